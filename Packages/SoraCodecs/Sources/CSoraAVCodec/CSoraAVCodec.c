#include "CSoraAVCodec.h"
