#ifndef CSORA_X264_H
#define CSORA_X264_H

#endif
