% A task of the PVM module of S-Lang: asks the machine, keeps a message, sends objects to itself, hears of an end.
require ("pvm");

private define main ()
{
   variable me = pvm_mytid ();
   vmessage ("hosts: %d", length (pvm_config ()));
   vmessage ("parent: %S", pvm_parent () == PvmNoParent);

   pvm_initsend (PvmDataDefault);
   pvm_pack ("a word", [1:5], 2.5, [1h, -2h], 'x');
   pvm_send (me, 7);
   () = pvm_recv (me, 7);
   variable word = pvm_unpack (String_Type, 1);
   variable five = pvm_unpack (Int_Type, 5);
   vmessage ("%S: %S of %d", word, sum (five), length (five));

   variable given = struct { numbers, words };
   given.numbers = [1.5, 2.5, -3.0];
   given.words = "there and back";
   pvm_send_obj (me, 3, given);
   () = pvm_recv (me, 3);
   variable back = pvm_recv_obj ();
   vmessage ("%s, %S", back.words, sum (back.numbers));

   variable depth = _stkdepth ();
   pvm_joingroup ("slang");
   loop (_stkdepth () - depth) vmessage ("joined: %S", ());
   vmessage ("members: %S", pvm_gsize ("slang"));
   pvm_lvgroup ("slang");
   loop (_stkdepth () - depth) vmessage ("left: %S", ());

   variable tid = pvm_spawn ("hello_other", PvmTaskDefault, "", 1);
   vmessage ("spawned: %d", length (tid));
   () = pvm_recv (-1, 1);
   vmessage ("heard: %S", strncmp (pvm_unpack (String_Type, 1), "hello", 5) == 0);
   pvm_exit ();
}

main ();
