# Runs a program of a rank, which writes to files of that rank: what two ranks say in pieces, without ends of lines, has no
# order on one stream.
exec "$@" >"out.$PMI_RANK" 2>"said.$PMI_RANK"
