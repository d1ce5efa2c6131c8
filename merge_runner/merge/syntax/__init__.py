"""The lexer and the expression grammar of Spark SQL."""
