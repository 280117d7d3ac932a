/* Groups. What combines items in pvmfreduce has the same arguments in both languages. */
#include "face.h"

typedef void combine(int *datatype, void *x, void *y, int *num, int *info);

PVMF pvmfjoingroup_(const char *group, int *inum, size_t length)
{
	WITH_TEXT(inum, group, length, name, pvm_joingroup(name));
}

PVMF pvmflvgroup_(const char *group, int *info, size_t length)
{
	WITH_TEXT(info, group, length, name, pvm_lvgroup(name));
}

PVMF pvmfgettid_(const char *group, const int *inum, int *tid, size_t length)
{
	WITH_TEXT(tid, group, length, name, pvm_gettid(name, *inum));
}

PVMF pvmfgetinst_(const char *group, const int *tid, int *inum, size_t length)
{
	WITH_TEXT(inum, group, length, name, pvm_getinst(name, *tid));
}

PVMF pvmfgsize_(const char *group, int *size, size_t length)
{
	WITH_TEXT(size, group, length, name, pvm_gsize(name));
}

PVMF pvmffreezegroup_(const char *group, const int *size, int *info, size_t length)
{
	WITH_TEXT(info, group, length, name, pvm_freezegroup(name, *size));
}

PVMF pvmfbarrier_(const char *group, const int *count, int *info, size_t length)
{
	WITH_TEXT(info, group, length, name, pvm_barrier(name, *count));
}

PVMF pvmfbcast_(const char *group, const int *msgtag, int *info, size_t length)
{
	WITH_TEXT(info, group, length, name, pvm_bcast(name, *msgtag));
}

PVMF pvmfreduce_(combine *with, void *data, const int *count, const int *datatype, const int *msgtag,
	const char *group, const int *root, int *info, size_t length)
{
	WITH_TEXT(info, group, length, name, pvm_reduce(with, data, *count, *datatype, *msgtag, name, *root));
}

PVMF pvmfgather_(void *result, void *data, const int *count, const int *datatype, const int *msgtag,
	const char *group, const int *root, int *info, size_t length)
{
	WITH_TEXT(info, group, length, name, pvm_gather(result, data, *count, *datatype, *msgtag, name, *root));
}

PVMF pvmfscatter_(void *result, void *data, const int *count, const int *datatype, const int *msgtag,
	const char *group, const int *root, int *info, size_t length)
{
	WITH_TEXT(info, group, length, name, pvm_scatter(result, data, *count, *datatype, *msgtag, name, *root));
}

PVMF pvmsum_(int *datatype, void *x, void *y, int *num, int *info)
{
	PvmSum(datatype, x, y, num, info);
}

PVMF pvmproduct_(int *datatype, void *x, void *y, int *num, int *info)
{
	PvmProduct(datatype, x, y, num, info);
}

PVMF pvmmax_(int *datatype, void *x, void *y, int *num, int *info)
{
	PvmMax(datatype, x, y, num, info);
}

PVMF pvmmin_(int *datatype, void *x, void *y, int *num, int *info)
{
	PvmMin(datatype, x, y, num, info);
}
