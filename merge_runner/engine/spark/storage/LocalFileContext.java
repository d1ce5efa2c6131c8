package mergerunner;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.ChecksumFs;
import org.apache.hadoop.fs.DelegateToFileSystem;
import org.apache.hadoop.fs.FsConstants;

/** Hadoop's `fs.AbstractFileSystem.file.impl`, with its checksums, on PosixFileSystem. */
public class LocalFileContext extends ChecksumFs {
    /** Both parameters are those with which Hadoop makes one; there is one file system, whatever the URI. */
    public LocalFileContext(URI uri, Configuration conf) throws IOException, URISyntaxException {
        super(new Raw(conf));
    }

    /** The same without checksums, as `org.apache.hadoop.fs.local.RawLocalFs` is. */
    private static class Raw extends DelegateToFileSystem {
        Raw(Configuration conf) throws IOException, URISyntaxException {
            super(FsConstants.LOCAL_FS_URI, new PosixFileSystem(), conf, FsConstants.LOCAL_FS_URI.getScheme(), false);
        }

        @Override
        public int getUriDefaultPort() {
            return -1; // a local file has no port
        }

        @Override
        public boolean isValidName(String name) {
            return true; // as Hadoop's: the operating system refuses what it does not take
        }
    }
}
