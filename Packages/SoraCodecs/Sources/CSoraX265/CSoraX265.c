#include "CSoraX265.h"
