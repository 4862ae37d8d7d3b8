#include "CSoraOpenH264.h"
