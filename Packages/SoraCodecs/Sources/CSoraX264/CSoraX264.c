#include "CSoraX264.h"
