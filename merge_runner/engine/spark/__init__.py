"""The Spark driver and its session: where it runs, its Java, jars and configuration, SQL, errors."""
