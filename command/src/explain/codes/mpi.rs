//! MPI's error classes. A test compares the names with those of the library.

use super::Row;

pub(super) const MPI: &[Row] = &[
    ("MPI_SUCCESS", "Class 0. No error.", "Nothing is to be done."),
    (
        "MPI_ERR_BUFFER",
        "Class 1. The buffer cannot be used.",
        "Pass memory of the program that the operation may use. Buffers may overlap only if the call permits it; `MPI_IN_PLACE` replaces one.",
    ),
    ("MPI_ERR_COUNT", "Class 2. The count is not valid.", "Pass a count of 0 or more."),
    (
        "MPI_ERR_TYPE",
        "Class 3. No such datatype, or it is not committed.",
        "Call `MPI_Type_commit` before the first use of a datatype, and do not use it after `MPI_Type_free`.",
    ),
    (
        "MPI_ERR_TAG",
        "Class 4. A tag must lie between 0 and MPI_TAG_UB.",
        "Use 0 to `MPI_TAG_UB`. Only receives and probes accept `MPI_ANY_TAG`.",
    ),
    ("MPI_ERR_COMM", "Class 5. No such communicator.", "Use a communicator that exists and is not freed."),
    (
        "MPI_ERR_RANK",
        "Class 6. The communicator has no such rank.",
        "Use 0 to the size of the communicator minus 1. Only receives and probes accept `MPI_ANY_SOURCE`.",
    ),
    (
        "MPI_ERR_ROOT",
        "Class 7. The communicator has no such root.",
        "Use a rank of the communicator. An intercommunicator needs `MPI_ROOT` or `MPI_PROC_NULL` in the root's group.",
    ),
    ("MPI_ERR_GROUP", "Class 8. No such group.", "Use a group that exists and is not freed."),
    (
        "MPI_ERR_OP",
        "Class 9. No such operation, or it is not for this datatype.",
        "Use an operation that the MPI standard permits for the datatype.",
    ),
    (
        "MPI_ERR_TOPOLOGY",
        "Class 10. The communicator has no such topology.",
        "Make the communicator with `MPI_Cart_create`, `MPI_Graph_create` or `MPI_Dist_graph_create` first.",
    ),
    (
        "MPI_ERR_DIMS",
        "Class 11. The dimensions are not valid.",
        "Correct the number or the product of the dimensions.",
    ),
    ("MPI_ERR_ARG", "Class 12. An argument is not valid.", "Correct the argument that the text names."),
    (
        "MPI_ERR_UNKNOWN",
        "Class 13. An unknown error.",
        "Report it: `parvum report` packs what a bug report needs.",
    ),
    (
        "MPI_ERR_TRUNCATE",
        "Class 14. The message is longer than the receive buffer.",
        "Receive with a buffer as large as the message. `MPI_Probe` and `MPI_Get_count` return the length.",
    ),
    (
        "MPI_ERR_OTHER",
        "Class 15. Another error. Its text names it.",
        "Read the text of the error: `MPI_Error_string`.",
    ),
    (
        "MPI_ERR_INTERN",
        "Class 16. An error inside Parvum.",
        "Report it: `parvum report` packs what a bug report needs.",
    ),
    ("MPI_ERR_IN_STATUS", "Class 17. The error is in the statuses.", "Read `MPI_ERROR` of each status."),
    ("MPI_ERR_PENDING", "Class 18. The request is still under way.", "Wait for the request again."),
    ("MPI_ERR_REQUEST", "Class 19. No such request.", "Do not use a request after it is complete or freed."),
    ("MPI_ERR_ACCESS", "Class 20. Permission denied.", "Check owner and mode of the file."),
    (
        "MPI_ERR_AMODE",
        "Class 21. The file's access mode is not valid.",
        "Give exactly one of `MPI_MODE_RDONLY`, `MPI_MODE_WRONLY` and `MPI_MODE_RDWR`.",
    ),
    ("MPI_ERR_BAD_FILE", "Class 22. The file's name is not valid.", "Correct the name."),
    (
        "MPI_ERR_CONVERSION",
        "Class 23. A conversion function of the program failed.",
        "Correct the conversion function of the data representation.",
    ),
    (
        "MPI_ERR_DUP_DATAREP",
        "Class 24. The data representation is known already.",
        "Register each data representation once.",
    ),
    (
        "MPI_ERR_FILE_EXISTS",
        "Class 25. The file exists.",
        "Choose another name, or open without `MPI_MODE_EXCL`.",
    ),
    ("MPI_ERR_FILE_IN_USE", "Class 26. The file is in use.", "Close the file in all processes first."),
    (
        "MPI_ERR_FILE",
        "Class 27. No such file handle.",
        "Use a file between `MPI_File_open` and `MPI_File_close`.",
    ),
    ("MPI_ERR_INFO", "Class 28. No such info object.", "Use an info object that is not freed."),
    (
        "MPI_ERR_INFO_KEY",
        "Class 29. The info key is empty or too long.",
        "Use 1 to `MPI_MAX_INFO_KEY` characters.",
    ),
    (
        "MPI_ERR_INFO_VALUE",
        "Class 30. The info value is too long.",
        "Use fewer than `MPI_MAX_INFO_VAL` characters.",
    ),
    (
        "MPI_ERR_INFO_NOKEY",
        "Class 31. The info object has no such key.",
        "Set the key first, or test with `MPI_Info_get_string`.",
    ),
    ("MPI_ERR_IO", "Class 32. Input or output failed.", "Check the disk. The text has the system's words."),
    (
        "MPI_ERR_NAME",
        "Class 33. No such name is published.",
        "Call `MPI_Publish_name` before `MPI_Lookup_name`.",
    ),
    (
        "MPI_ERR_NO_MEM",
        "Class 34. There is not enough memory.",
        "Free memory, or raise the limit. `parvum doctor` shows the limits.",
    ),
    (
        "MPI_ERR_NOT_SAME",
        "Class 35. An argument must be the same on all ranks.",
        "Pass the same value in all processes.",
    ),
    ("MPI_ERR_NO_SPACE", "Class 36. There is no space left for the file.", "Make room on the disk."),
    (
        "MPI_ERR_NO_SUCH_FILE",
        "Class 37. There is no such file.",
        "Correct the name, or open with `MPI_MODE_CREATE`.",
    ),
    (
        "MPI_ERR_PORT",
        "Class 38. No such port.",
        "Use the text that `MPI_Open_port` returned, while the port is open.",
    ),
    ("MPI_ERR_QUOTA", "Class 39. The quota is used up.", "Free space, or ask for a higher quota."),
    ("MPI_ERR_READ_ONLY", "Class 40. The file or file system is read-only.", "Use another folder."),
    (
        "MPI_ERR_SERVICE",
        "Class 41. The name is not published by this program.",
        "Unpublish a name in the process that published it.",
    ),
    (
        "MPI_ERR_SPAWN",
        "Class 42. Processes could not be started.",
        "Read the text. It has the code of the daemon, such as `E-NOPROGRAM`.",
    ),
    (
        "MPI_ERR_UNSUPPORTED_DATAREP",
        "Class 43. The data representation is not supported.",
        "Use `native`, `internal` or `external32`.",
    ),
    (
        "MPI_ERR_UNSUPPORTED_OPERATION",
        "Class 44. The operation is not supported.",
        "Use another call. The page on MPI lists what Parvum does not support.",
    ),
    ("MPI_ERR_WIN", "Class 45. No such window.", "Use a window between its creation and `MPI_Win_free`."),
    (
        "MPI_ERR_BASE",
        "Class 46. The base address is not valid.",
        "Pass the address of the memory of the window.",
    ),
    (
        "MPI_ERR_LOCKTYPE",
        "Class 47. The lock type is not valid.",
        "Use `MPI_LOCK_SHARED` or `MPI_LOCK_EXCLUSIVE`.",
    ),
    ("MPI_ERR_KEYVAL", "Class 48. No such attribute key.", "Use a key between its creation and its end."),
    (
        "MPI_ERR_RMA_CONFLICT",
        "Class 49. Accesses to a window conflict.",
        "Separate the accesses with a synchronization call.",
    ),
    (
        "MPI_ERR_RMA_SYNC",
        "Class 50. The window is not in an epoch that permits this.",
        "Open an epoch first: `MPI_Win_fence`, `MPI_Win_start` or `MPI_Win_lock`.",
    ),
    ("MPI_ERR_SIZE", "Class 51. The size is not valid.", "Pass a size that is possible."),
    (
        "MPI_ERR_DISP",
        "Class 52. The displacement is not valid.",
        "Count displacements from 0, in units of the window.",
    ),
    (
        "MPI_ERR_ASSERT",
        "Class 53. The assertion is not valid.",
        "Use the constants of the standard for this call, or 0.",
    ),
    (
        "MPI_ERR_RMA_RANGE",
        "Class 55. The target memory is not in the window.",
        "Stay inside the memory that the target gave to the window.",
    ),
    (
        "MPI_ERR_RMA_ATTACH",
        "Class 56. The memory cannot be attached.",
        "Attach memory that is not attached yet, to a dynamic window.",
    ),
    (
        "MPI_ERR_RMA_SHARED",
        "Class 57. The memory cannot be shared.",
        "Use processes of one host: `MPI_Comm_split_type` with `MPI_COMM_TYPE_SHARED`.",
    ),
    (
        "MPI_ERR_RMA_FLAVOR",
        "Class 58. The window is of another flavor.",
        "Use a window of the flavor that the call needs.",
    ),
    (
        "MPI_ERR_SESSION",
        "Class 75. No such session.",
        "Use a session between `MPI_Session_init` and `MPI_Session_finalize`.",
    ),
    ("MPI_ERR_PROC_ABORTED", "Class 76. A process has aborted.", "Read what the other process printed."),
    (
        "MPI_ERR_VALUE_TOO_LARGE",
        "Class 77. The value does not fit.",
        "Use the variant of the call with large counts (`_c`).",
    ),
    ("MPI_ERR_ERRHANDLER", "Class 80. No such error handler.", "Use an error handler that is not freed."),
    (
        "MPI_ERR_ABI",
        "Class 81. The program has set this value of the binary interface already.",
        "Set the value once, before its first use.",
    ),
    (
        "MPIX_ERR_PROC_FAILED",
        "Class 101. A process has died.",
        "Shrink the communicator (`MPIX_Comm_shrink`), or let the job end.",
    ),
    (
        "MPIX_ERR_PROC_FAILED_PENDING",
        "Class 102. A process that may be the sender has died. The request goes on.",
        "Acknowledge the failure (`MPIX_Comm_failure_ack`), and wait for the request again.",
    ),
    (
        "MPIX_ERR_REVOKED",
        "Class 103. The communicator was revoked.",
        "Shrink the communicator (`MPIX_Comm_shrink`), and use the new one.",
    ),
];
