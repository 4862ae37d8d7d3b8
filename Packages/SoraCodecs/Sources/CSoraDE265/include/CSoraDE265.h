// libde265, which is loaded when it is used first.
#ifndef CSORA_DE265_H
#define CSORA_DE265_H

/// Loads libde265, once, before anything else of it is called; NULL, or why it can't be. From any thread.
const char *sora_de265_load(void);

#endif
