/* Rust's compiler calls these under ThreadSanitizer. GCC's runtime lacks them, but watches the C library's functions. */
#include <string.h>

void *__tsan_memcpy(void *to, const void *from, size_t count)
{
	return memcpy(to, from, count);
}

void *__tsan_memmove(void *to, const void *from, size_t count)
{
	return memmove(to, from, count);
}

void *__tsan_memset(void *at, int byte, size_t count)
{
	return memset(at, byte, count);
}
