/* Packs one thing after the other and prints the bytes of each message body, one line for each.
 *
 * Linked with PVM's own library it recorded tests/vectors.txt; with ours it must say the same. The message is put
 * into a raw one as it is and sent to oneself, which shows it byte by byte. */
#include <limits.h>
#include <math.h>
#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What pvm_pkmesg puts before the body. */
#define HEAD (9 * 4)

static int me;

/* Prints the body of a packed message, and disposes of it. */
static void show(const char *name, int packed)
{
    static unsigned char body[1 << 16];
    int carrier = pvm_mkbuf(PvmDataRaw), length = 0, arrived, i;

    pvm_setsbuf(carrier);
    pvm_pkmesg(packed);
    pvm_send(me, 1);
    arrived = pvm_recv(me, 1);
    pvm_bufinfo(arrived, &length, 0, 0);
    if (length > (int)sizeof body || (length > 0 && pvm_upkbyte((char *)body, length, 1) < 0)) exit(1);
    printf("%s:", name);
    for (i = HEAD; i < length; i++) printf("%s%02x", i % 4 ? "" : " ", body[i]);
    printf("\n");
    pvm_setsbuf(0);
    pvm_freebuf(carrier);
    pvm_freebuf(packed);
}

#define EACH(name, ...)                                                                                                \
    do {                                                                                                               \
        int how;                                                                                                       \
        for (how = 0; how < 2; how++) {                                                                                \
            int packed = pvm_mkbuf(how ? PvmDataRaw : PvmDataDefault);                                                 \
            pvm_setsbuf(packed);                                                                                       \
            __VA_ARGS__;                                                                                               \
            pvm_setsbuf(0);                                                                                            \
            show(how ? name " raw" : name " xdr", packed);                                                             \
        }                                                                                                              \
    } while (0)

int main(void)
{
    char bytes[] = {1, -2, 3, 'x', 127, -128, 0, 8, 9};
    short shorts[] = {1, -2, SHRT_MAX, SHRT_MIN, 0x1234};
    unsigned short ushorts[] = {1, USHRT_MAX, 0x8000, 0x1234};
    int ints[] = {0, 1, -1, INT_MAX, INT_MIN, 0x12345678};
    unsigned int uints[] = {0, UINT_MAX, 0x80000000u, 0x12345678u};
    long longs[] = {0, 1, -1, INT_MAX, INT_MIN, 0x12345678};
    unsigned long ulongs[] = {0, 1, 0x7fffffff, 0x12345678};
    float floats[] = {0.0f, -0.0f, 1.5f, -3.25e-20f, INFINITY, -INFINITY, 1e-42f};
    double doubles[] = {0.0, -0.0, 1.5, -3.25e-200, INFINITY, -INFINITY, 5e-324};
    float nan_f = NAN;
    double nan_d = NAN;
    static char text[1001];

    memset(text, 'a', 1000);
    me = pvm_mytid();
    if (me < 0) return 2;

    EACH("nothing", (void)0);
    EACH("byte 1", pvm_pkbyte(bytes, 1, 1));
    EACH("byte 2", pvm_pkbyte(bytes, 2, 1));
    EACH("byte 3", pvm_pkbyte(bytes, 3, 1));
    EACH("byte 4", pvm_pkbyte(bytes, 4, 1));
    EACH("byte 9", pvm_pkbyte(bytes, 9, 1));
    EACH("byte strided", pvm_pkbyte(bytes, 3, 3));
    EACH("byte twice", pvm_pkbyte(bytes, 1, 1); pvm_pkbyte(bytes, 2, 1));
    EACH("byte none", pvm_pkbyte(bytes, 0, 1));
    EACH("short", pvm_pkshort(shorts, 5, 1));
    EACH("short one", pvm_pkshort(shorts + 1, 1, 1));
    EACH("short strided", pvm_pkshort(shorts, 2, 3));
    EACH("short none", pvm_pkshort(shorts, 0, 1));
    EACH("ushort", pvm_pkushort(ushorts, 4, 1));
    EACH("ushort strided", pvm_pkushort(ushorts, 2, 2));
    EACH("int", pvm_pkint(ints, 6, 1));
    EACH("int strided", pvm_pkint(ints, 3, 2));
    EACH("int backwards", pvm_pkint(ints + 5, 3, -2));
    EACH("int again", pvm_pkint(ints + 5, 3, 0));
    EACH("int none", pvm_pkint(ints, 0, 1));
    EACH("uint", pvm_pkuint(uints, 4, 1));
    EACH("uint strided", pvm_pkuint(uints, 2, 3));
    EACH("long", pvm_pklong(longs, 6, 1));
    EACH("long strided", pvm_pklong(longs, 3, 2));
    EACH("ulong", pvm_pkulong(ulongs, 4, 1));
    EACH("float", pvm_pkfloat(floats, 7, 1));
    EACH("float strided", pvm_pkfloat(floats, 3, 3));
    EACH("float nan", pvm_pkfloat(&nan_f, 1, 1));
    EACH("double", pvm_pkdouble(doubles, 7, 1));
    EACH("double strided", pvm_pkdouble(doubles, 3, 3));
    EACH("double nan", pvm_pkdouble(&nan_d, 1, 1));
    EACH("cplx", pvm_pkcplx(floats, 3, 1));
    EACH("cplx strided", pvm_pkcplx(floats, 2, 2));
    EACH("dcplx", pvm_pkdcplx(doubles, 3, 1));
    EACH("dcplx strided", pvm_pkdcplx(doubles, 2, 2));
    EACH("str empty", pvm_pkstr(""));
    EACH("str 1", pvm_pkstr("a"));
    EACH("str 3", pvm_pkstr("abc"));
    EACH("str 4", pvm_pkstr("abcd"));
    EACH("str not ascii", pvm_pkstr("\xff\x80\x01"));
    EACH("str long", pvm_pkstr(text));
    EACH("mixed", pvm_pkbyte(bytes, 3, 1); pvm_pkint(ints + 5, 1, 1); pvm_pkstr("two"); pvm_pkshort(shorts, 1, 1);
         pvm_pkbyte(bytes, 1, 1); pvm_pkdouble(doubles + 2, 1, 1); pvm_pkstr("x"); pvm_pkfloat(floats + 2, 1, 1));
    EACH("packf", pvm_packf("%d %s %*c %hd %f %lf %ld %ud %f", 7, "word", 3, "xyz", -5, 1.5, 2.5, 9L, 8u, -1.0));
    pvm_exit();
    return 0;
}
