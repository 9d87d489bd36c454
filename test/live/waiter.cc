// SPDX-License-Identifier: Apache-2.0
// A service's process that lives under almost any filter: it calls pause and nothing else, the C library included.
extern "C" [[noreturn]] void _start() {
  for (;;) {
    long number = 34;  // pause on x86_64
    __asm__ volatile("syscall" : "+a"(number) : : "rcx", "r11", "memory");
  }
}
