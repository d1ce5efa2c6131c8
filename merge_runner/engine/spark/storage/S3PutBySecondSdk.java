package mergerunner;

import java.io.IOException;
import java.util.Collections;
import java.util.Iterator;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.apache.hadoop.fs.s3a.S3AUtils;
import org.apache.hadoop.fs.s3a.impl.PutObjectOptions;
import org.apache.hadoop.fs.store.audit.AuditSpan;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;

/** A conditional PUT by version 2 of the AWS SDK: Hadoop 3.4.0 and 3.4.1, the one of Spark 4.0. */
final class S3PutBySecondSdk extends S3ConditionalPut {
    @Override
    void put(FileSystem files, Path path, Iterator<String> texts, String owner) throws IOException {
        S3AFileSystem store = (S3AFileSystem) files;
        byte[] body = body(texts);
        try (AuditSpan span = store.createSpan("op_create", path.toString(), null)) {
            // Hadoop's own factory: encryption, ACL and storage class are those of all other objects.
            PutObjectOptions options = new PutObjectOptions(true, null, Collections.singletonMap(OWNER, owner));
            PutObjectRequest request =
                    store.getRequestFactory()
                            .newPutObjectRequestBuilder(store.pathToKey(path), options, body.length, false)
                            .ifNoneMatch("*")
                            .build();
            store.getS3AInternals()
                    .getAmazonS3Client("a commit that must not overwrite")
                    .putObject(request, RequestBody.fromBytes(body));
        } catch (SdkException error) {
            throw S3AUtils.translateException("put if absent", path, error);
        }
    }
}
