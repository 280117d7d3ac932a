/*
 * pvm_packf(3) and pvm_unpackf(3): the calls with variable arguments, which
 * only C can take apart. Every item goes through the plain calls.
 *
 *	format: ["%+"] { "%" [count] ["." stride] {h|l|u} (c|d|f|x|s) }
 *
 * Count and stride are digits, or '*' for an int argument. When packing, an
 * item without a count is a value; with one, and always when unpacking, the
 * argument is an address. An item that makes no sense is a bad parameter.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pvm3.h"

int lpvmerr(const char *, int);

struct item {
	int count, stride;
	int counted;		/* a count was given: the argument is an address */
	int half, wide, natural;
	char kind;
};

/* Reads a number, or '*' for the next argument. Returns the rest, or NULL. */
static const char *number(const char *p, va_list *args, int *out)
{
	if (*p == '*') {
		*out = va_arg(*args, int);
		return p + 1;
	}
	if (!isdigit((unsigned char)*p))
		return NULL;
	for (*out = 0; isdigit((unsigned char)*p); p++) {
		if (*out > 100000000)
			return NULL;
		*out = 10 * *out + (*p - '0');
	}
	return p;
}

/* Reads one item after its '%'. Returns the rest, or NULL when it makes no sense. */
static const char *parse(const char *p, va_list *args, struct item *item)
{
	*item = (struct item){ .count = 1, .stride = 1 };
	if (*p == '*' || isdigit((unsigned char)*p)) {
		item->counted = 1;
		p = number(p, args, &item->count);
	}
	if (p && *p == '.') {
		item->counted = 1;
		p = number(p + 1, args, &item->stride);
	}
	for (; p && (*p == 'h' || *p == 'l' || *p == 'u'); p++) {
		item->half |= *p == 'h';
		item->wide |= *p == 'l';
		item->natural |= *p == 'u';
	}
	if (!p)
		return NULL;
	item->kind = *p;
	return *p && strchr("cdfxs", *p) ? p + 1 : NULL;
}

#define ARRAY(call, type) call((type *)data, item->count, item->stride)

static int pack_array(const struct item *item, void *data)
{
	switch (item->kind) {
	case 'c':
		return ARRAY(pvm_pkbyte, char);
	case 'd':
		if (item->half)
			return item->natural ? ARRAY(pvm_pkushort, unsigned short) : ARRAY(pvm_pkshort, short);
		if (item->wide)
			return item->natural ? ARRAY(pvm_pkulong, unsigned long) : ARRAY(pvm_pklong, long);
		return item->natural ? ARRAY(pvm_pkuint, unsigned int) : ARRAY(pvm_pkint, int);
	case 'f':
		return item->wide ? ARRAY(pvm_pkdouble, double) : ARRAY(pvm_pkfloat, float);
	case 'x':
		return item->wide ? ARRAY(pvm_pkdcplx, double) : ARRAY(pvm_pkcplx, float);
	case 's':
		return pvm_pkstr(data);
	default:
		return PvmBadParam;
	}
}

static int unpack_array(const struct item *item, void *data)
{
	switch (item->kind) {
	case 'c':
		return ARRAY(pvm_upkbyte, char);
	case 'd':
		if (item->half)
			return item->natural ? ARRAY(pvm_upkushort, unsigned short) : ARRAY(pvm_upkshort, short);
		if (item->wide)
			return item->natural ? ARRAY(pvm_upkulong, unsigned long) : ARRAY(pvm_upklong, long);
		return item->natural ? ARRAY(pvm_upkuint, unsigned int) : ARRAY(pvm_upkint, int);
	case 'f':
		return item->wide ? ARRAY(pvm_upkdouble, double) : ARRAY(pvm_upkfloat, float);
	case 'x':
		return item->wide ? ARRAY(pvm_upkdcplx, double) : ARRAY(pvm_upkcplx, float);
	case 's':
		return pvm_upkstr(data);
	default:
		return PvmBadParam;
	}
}

/* Packs a value that was passed as such; C has promoted the small ones. */
static int pack_value(const struct item *item, va_list *args)
{
	struct item one = *item;

	if (item->kind == 'c') {
		char value = (char)va_arg(*args, int);
		return pack_array(&one, &value);
	}
	if (item->kind == 'd' && item->half) {
		short value = (short)va_arg(*args, int);
		return pack_array(&one, &value);
	}
	if (item->kind == 'd' && item->wide) {
		long value = va_arg(*args, long);
		return pack_array(&one, &value);
	}
	if (item->kind == 'd') {
		int value = va_arg(*args, int);
		return pack_array(&one, &value);
	}
	if (item->kind == 'f') {
		double value = va_arg(*args, double);
		float shorter = (float)value;
		return item->wide ? pack_array(&one, &value) : pack_array(&one, &shorter);
	}
	/* Strings and complex numbers have no value form: they are addresses. */
	return pack_array(&one, va_arg(*args, void *));
}

/*
 * Values must outlive the call when data is left in place, and ours do not:
 * the format itself may not ask for that.
 */
static int walk(const char *name, const char *format, va_list *args, int packing)
{
	struct item item;
	int info = PvmOk;

	if (!format)
		return lpvmerr(name, PvmBadParam);
	while (*format && info >= 0) {
		/* What stands between the items means nothing. */
		if (*format++ != '%')
			continue;
		if (*format == '+' && packing) {
			info = pvm_initsend(va_arg(*args, int));
			format++;
			continue;
		}
		format = parse(format, args, &item);
		if (!format)
			return lpvmerr(name, PvmBadParam);
		if (!packing)
			info = unpack_array(&item, va_arg(*args, void *));
		else if (item.counted || item.kind == 's' || item.kind == 'x')
			info = pack_array(&item, va_arg(*args, void *));
		else
			info = pack_value(&item, args);
	}
	return info < 0 ? info : PvmOk;
}

int parvum_pvm_packf(const char *format, ...);
int parvum_pvm_unpackf(const char *format, ...);

int parvum_pvm_packf(const char *format, ...)
{
	va_list args;
	int info;

	va_start(args, format);
	info = walk("pvm_packf", format, &args, 1);
	va_end(args);
	return info;
}

int parvum_pvm_unpackf(const char *format, ...)
{
	va_list args;
	int info;

	va_start(args, format);
	info = walk("pvm_unpackf", format, &args, 0);
	va_end(args);
	return info;
}
