package mergerunner;

import io.delta.storage.S3SingleDriverLogStore;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.util.Arrays;
import java.util.Iterator;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Delta's log store for S3 with commits that S3 itself refuses where the version exists: PUT with If-None-Match.
 *
 * <p>The store that Delta takes otherwise looks first and then writes, which two drivers can interleave: the commit of
 * one is overwritten. All else is the same. Writers that put if absent in another way, as delta-rs does, may write the
 * same tables; a driver with Delta's own store may not.
 *
 * <p>Needs hadoop-aws 3.4.2 or newer. An older one refuses the option, so that nothing is written.
 */
public final class S3ConditionalLogStore extends S3SingleDriverLogStore {
    private static final String IF_ABSENT = "fs.option.create.conditional.overwrite";
    private static final String OWNER = "merge-runner-commit";

    public S3ConditionalLogStore(Configuration conf) {
        super(conf);
    }

    @Override
    public void write(Path path, Iterator<String> actions, Boolean overwrite, Configuration conf) throws IOException {
        if (overwrite) {
            super.write(path, actions, true, conf);
            return;
        }
        FileSystem files = path.getFileSystem(conf);
        byte[] owner = UUID.randomUUID().toString().getBytes(StandardCharsets.UTF_8);
        FSDataOutputStreamBuilder<?, ?> builder = files.createFile(path);
        builder.must(IF_ABSENT, true);
        builder.opt("fs.s3a.create.header." + OWNER, new String(owner, StandardCharsets.UTF_8));
        FSDataOutputStream out = builder.recursive().build();
        boolean complete = false;
        try {
            while (actions.hasNext()) {
                out.write((actions.next() + "\n").getBytes(StandardCharsets.UTF_8));
            }
            complete = true;
        } finally {
            if (!complete) {
                out.abort(); // close would put what there is
            }
        }
        try {
            out.close();
        } catch (IOException error) {
            // The client sends a request again whose answer was lost, and the second one finds the file of the first.
            byte[] found = owner(files, path);
            if (found == null) {
                throw error;
            }
            if (!Arrays.equals(found, owner)) {
                FileAlreadyExistsException taken = new FileAlreadyExistsException(path.toString());
                taken.initCause(error);
                throw taken;
            }
        }
    }

    /** Returns what the object says of its writer, nothing of it where another tool has written it; null: no object. */
    private static byte[] owner(FileSystem files, Path path) throws IOException {
        try {
            byte[] found = files.getXAttrs(path).get("header." + OWNER);
            return found == null ? new byte[0] : found;
        } catch (FileNotFoundException error) {
            return null;
        }
    }
}
