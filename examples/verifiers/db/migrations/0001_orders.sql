CREATE TABLE orders ();
-- down
DROP TABLE orders;
