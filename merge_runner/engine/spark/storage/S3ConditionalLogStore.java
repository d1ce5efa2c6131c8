package mergerunner;

import io.delta.storage.S3SingleDriverLogStore;
import java.io.IOException;
import java.util.Iterator;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/**
 * Delta's log store for S3 with commits that S3 itself refuses where the version exists (`S3ConditionalPut`).
 *
 * <p>The store that Delta takes otherwise looks first and then writes, which two drivers can interleave: the commit of
 * one is overwritten. All else is the same. Writers that put if absent in another way, as delta-rs does, may write the
 * same tables; a driver with Delta's own store may not.
 */
public final class S3ConditionalLogStore extends S3SingleDriverLogStore {
    public S3ConditionalLogStore(Configuration conf) {
        super(conf);
    }

    @Override
    public void write(Path path, Iterator<String> actions, Boolean overwrite, Configuration conf) throws IOException {
        if (overwrite) {
            super.write(path, actions, true, conf);
            return;
        }
        S3ConditionalPut.create(path.getFileSystem(conf), path, new Lines(actions));
    }

    private static final class Lines implements Iterator<String> {
        private final Iterator<String> actions;

        Lines(Iterator<String> actions) {
            this.actions = actions;
        }

        @Override
        public boolean hasNext() {
            return actions.hasNext();
        }

        @Override
        public String next() {
            return actions.next() + "\n";
        }
    }
}
