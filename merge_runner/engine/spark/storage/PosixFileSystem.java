package mergerunner;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * Files of this machine as Hadoop has them, without a process for each of them.
 *
 * <p>Without Hadoop's native library, which PySpark does not bring, `RawLocalFileSystem` runs `chmod` for a file that it
 * creates and `readlink` for one that it looks up for a rename. Java does both itself.
 */
class PosixFileSystem extends RawLocalFileSystem {
    private static final int PERMISSION_BITS = 9;

    @Override
    public void setPermission(org.apache.hadoop.fs.Path file, FsPermission permission) throws IOException {
        Path path = toPath(file);
        boolean sticky = permission.toShort() >>> PERMISSION_BITS != 0;
        if (path == null || sticky) {
            super.setPermission(file, permission);
            return;
        }
        String text =
                permission.getUserAction().SYMBOL
                        + permission.getGroupAction().SYMBOL
                        + permission.getOtherAction().SYMBOL;
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(text));
    }

    @Override
    public FileStatus getFileLinkStatus(org.apache.hadoop.fs.Path file) throws IOException {
        Path path = toPath(file);
        if (path == null || Files.isSymbolicLink(path)) {
            return super.getFileLinkStatus(file);
        }
        return getFileStatus(file);
    }

    /** Returns the path for Java; null where it has none, or the file system no permissions of POSIX. */
    private Path toPath(org.apache.hadoop.fs.Path file) {
        try {
            Path path = pathToFile(file).toPath();
            return path.getFileSystem().supportedFileAttributeViews().contains("posix") ? path : null;
        } catch (InvalidPathException error) { // a name that the locale of the JVM cannot express
            return null;
        }
    }
}
