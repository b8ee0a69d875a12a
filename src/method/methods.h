/* Every method there is, in the order they are listed to people. Adding one is adding its file and one line
 * here. */
#ifndef HW_METHOD_METHODS_H
#define HW_METHOD_METHODS_H

#include "headwater/method.h"

#define HW_METHOD_LIST(X) \
  X(posterior)            \
  X(tgd)                  \
  X(atgd)                 \
  X(aptgd)                \
  X(mtgd)                 \
  X(mptgd)                \
  X(de)                   \
  X(annealing)            \
  X(genetic)              \
  X(mcmc)                 \
  X(backward)             \
  X(bandit)               \
  X(bandit1)              \
  X(bandit2)

#define HW_METHOD_EXTERN(name) extern const hw_method hw_method_##name;
HW_METHOD_LIST(HW_METHOD_EXTERN)
#undef HW_METHOD_EXTERN

#endif
