! NX for Fortran: the types of its functions, valid in fixed and in free form.
      integer csendrecv, gray, ginv
      integer mynode, numnodes, nodedim, myhost, myptype, mypid
      integer isend, irecv, irecvx, isendrecv, msgdone, msgmerge
      integer iprobe, iprobex, infocount, infonode, infotype, infoptype
      integer infopid, masktrap, mclock
      double precision dclock
      external csendrecv, gray, ginv, mclock, dclock
