# Runs a program of a rank, which says its errors to a file of that rank: what two ranks say in pieces, without ends of
# lines, has no order on one stream.
exec "$@" 2>"said.$PMI_RANK"
