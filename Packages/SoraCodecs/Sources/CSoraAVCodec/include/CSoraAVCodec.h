#ifndef CSORA_AVCODEC_H
#define CSORA_AVCODEC_H

#endif
