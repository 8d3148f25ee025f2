CREATE TABLE customers ();
