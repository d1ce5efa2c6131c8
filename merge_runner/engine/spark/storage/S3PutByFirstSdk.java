package mergerunner;

import com.amazonaws.AmazonClientException;
import com.amazonaws.services.s3.model.ObjectMetadata;
import com.amazonaws.services.s3.model.PutObjectRequest;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.Iterator;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.apache.hadoop.fs.s3a.S3AUtils;
import org.apache.hadoop.fs.s3a.api.RequestFactory;
import org.apache.hadoop.fs.store.audit.AuditSpan;

/** A conditional PUT by version 1 of the AWS SDK, which knows no such request: Hadoop 3.3, the one of Spark 3.5. */
final class S3PutByFirstSdk extends S3ConditionalPut {
    @Override
    void put(FileSystem files, Path path, Iterator<String> texts, String owner) throws IOException {
        S3AFileSystem store = (S3AFileSystem) files;
        byte[] body = body(texts);
        try (AuditSpan span = store.createSpan("op_create", path.toString(), null)) {
            // Hadoop's own factory: encryption, ACL and storage class are those of all other objects.
            RequestFactory requests = store.getRequestFactory();
            ObjectMetadata metadata = requests.newObjectMetadata(body.length);
            metadata.addUserMetadata(OWNER, owner);
            PutObjectRequest request =
                    requests.newPutObjectRequest(
                            store.pathToKey(path), metadata, new ByteArrayInputStream(body));
            request.putCustomRequestHeader("If-None-Match", "*");
            store.getAmazonS3ClientForTesting("a commit that must not overwrite").putObject(request);
        } catch (AmazonClientException error) {
            throw S3AUtils.translateException("put if absent", path, error);
        }
    }
}
