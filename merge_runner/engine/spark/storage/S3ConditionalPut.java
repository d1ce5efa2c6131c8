package mergerunner;

import java.io.ByteArrayOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.UUID;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Creates an object of S3 where there is none: PUT with If-None-Match, which S3 itself refuses otherwise.
 *
 * <p>Hadoop's own `create(path, false)` looks first and then writes, which two writers can interleave. From 3.4.2 on
 * `createFile` has an option for such a PUT; with an older Hadoop the client of the AWS SDK that it holds sends it.
 */
public abstract class S3ConditionalPut {
    static final String OWNER = "merge-runner-commit";
    private static final String IF_ABSENT = "fs.option.create.conditional.overwrite";
    private static final String SECOND_SDK = "fs.s3a.capability.aws.v2";

    /** Sends the PUT, with `owner` as the user metadata OWNER. Fails where there is an object. */
    abstract void put(FileSystem files, Path path, Iterator<String> texts, String owner) throws IOException;

    /** Creates an object with one text; FileAlreadyExistsException where another writer has made it. */
    public static void create(FileSystem files, Path path, String text) throws IOException {
        create(files, path, Collections.singleton(text).iterator());
    }

    /** Creates an object with texts, one after the other; FileAlreadyExistsException where another writer has made it. */
    public static void create(FileSystem files, Path path, Iterator<String> texts) throws IOException {
        String owner = UUID.randomUUID().toString();
        try {
            of(files, path).put(files, path, texts, owner);
        } catch (IOException error) {
            // The client sends a request again whose answer was lost, and the second one finds the object of the first.
            byte[] found = owner(files, path);
            if (found == null) {
                throw error;
            }
            if (!Arrays.equals(found, owner.getBytes(StandardCharsets.UTF_8))) {
                FileAlreadyExistsException taken = new FileAlreadyExistsException(path.toString());
                taken.initCause(error);
                throw taken;
            }
        }
    }

    /** Returns the texts as one body. */
    static byte[] body(Iterator<String> texts) throws IOException {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        while (texts.hasNext()) {
            body.write(texts.next().getBytes(StandardCharsets.UTF_8));
        }
        return body.toByteArray();
    }

    private static S3ConditionalPut of(FileSystem files, Path path) throws IOException {
        if (files.hasPathCapability(path, IF_ABSENT)) {
            return new ByOption();
        }
        // Each is compiled against the jars of its Hadoop, and can be loaded with these alone.
        String name = files.hasPathCapability(path, SECOND_SDK) ? "S3PutBySecondSdk" : "S3PutByFirstSdk";
        try {
            return (S3ConditionalPut) Class.forName("mergerunner." + name).getDeclaredConstructor().newInstance();
        } catch (ReflectiveOperationException | LinkageError error) {
            throw new IOException(name + " does not fit to the Hadoop that is here", error);
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

    private static final class ByOption extends S3ConditionalPut {
        @Override
        void put(FileSystem files, Path path, Iterator<String> texts, String owner) throws IOException {
            FSDataOutputStreamBuilder<?, ?> builder = files.createFile(path);
            builder.must(IF_ABSENT, true);
            builder.opt("fs.s3a.create.header." + OWNER, owner);
            FSDataOutputStream out = builder.recursive().build();
            boolean complete = false;
            try {
                while (texts.hasNext()) {
                    out.write(texts.next().getBytes(StandardCharsets.UTF_8));
                }
                complete = true;
            } finally {
                if (!complete) {
                    out.abort(); // close would put what there is
                }
            }
            out.close();
        }
    }
}
