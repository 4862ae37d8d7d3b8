#ifndef CSORA_X265_H
#define CSORA_X265_H

#endif
