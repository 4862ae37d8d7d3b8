#ifndef CSORA_OPENH264_H
#define CSORA_OPENH264_H

#endif
