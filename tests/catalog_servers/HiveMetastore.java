import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import org.apache.hadoop.hive.conf.HiveConf;
import org.apache.hadoop.hive.metastore.HiveMetaStore;
import org.apache.hadoop.hive.metastore.IHMSHandler;
import org.apache.hadoop.hive.metastore.RetryingHMSHandler;
import org.apache.hadoop.hive.metastore.TSetIpAddressProcessor;
import org.apache.hadoop.hive.metastore.api.MetaException;
import org.apache.hadoop.hive.metastore.api.Table;
import org.apache.hadoop.hive.metastore.txn.TxnDbUtil;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.server.TThreadPoolServer;
import org.apache.thrift.transport.TServerSocket;
import org.apache.thrift.transport.TTransportFactory;

/**
 * A Hive metastore over Derby, on the loopback interface alone: {@code HiveMetastore.java PORT FOLDER}.
 *
 * <p>Tables of the database "locked" may not be created, as storage-based authorization refuses it.
 */
public class HiveMetastore {
    public static void main(String[] arguments) throws Exception {
        String folder = arguments[1];
        HiveConf conf = new HiveConf(HiveMetastore.class);
        conf.set("javax.jdo.option.ConnectionURL", "jdbc:derby:;databaseName=" + folder + "/metastore;create=true");
        conf.set("datanucleus.schema.autoCreateAll", "true");
        conf.set("datanucleus.connectionPoolingType", "hikaricp"); // the default is not among Spark's jars
        conf.set("hive.metastore.schema.verification", "false");
        conf.set("hive.metastore.warehouse.dir", "file:" + folder + "/hive");
        TxnDbUtil.setConfValues(conf);
        TxnDbUtil.prepDb(conf);
        IHMSHandler handler = new HiveMetaStore.HMSHandler("test", conf, false);
        IHMSHandler retrying = RetryingHMSHandler.getProxy(conf, handler, false);
        TServerSocket socket =
            new TServerSocket(new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[0])));
        new TThreadPoolServer(
            new TThreadPoolServer.Args(socket)
                .processor(new TSetIpAddressProcessor<>(guarded(retrying)))
                .transportFactory(new TTransportFactory())
                .protocolFactory(new TBinaryProtocol.Factory())
                .minWorkerThreads(4)
                .maxWorkerThreads(100))
            .serve();
    }

    /** Answers as the handler does, and refuses new tables in one database. */
    private static IHMSHandler guarded(IHMSHandler handler) {
        InvocationHandler answer = (proxy, method, arguments) -> {
            if (method.getName().startsWith("create_table") && ((Table) arguments[0]).getDbName().equals("locked")) {
                throw new MetaException("Permission denied: user may not create tables in locked");
            }
            try {
                return method.invoke(handler, arguments);
            } catch (InvocationTargetException error) {
                throw error.getCause();
            }
        };
        Class<?>[] interfaces = {IHMSHandler.class};
        return (IHMSHandler) Proxy.newProxyInstance(IHMSHandler.class.getClassLoader(), interfaces, answer);
    }
}
