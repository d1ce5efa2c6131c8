package mergerunner;

import org.apache.hadoop.fs.LocalFileSystem;

/** Hadoop's `fs.file.impl`, with its checksums, on PosixFileSystem. */
public class LocalFiles extends LocalFileSystem {
    public LocalFiles() {
        super(new PosixFileSystem());
    }
}
