#include "posterior/kernel.h"

const hw__kernel_table *hw__kernel(void) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2")) {
    return &hw__kernel_avx2;
  }
#endif
  return &hw__kernel_portable;
}
