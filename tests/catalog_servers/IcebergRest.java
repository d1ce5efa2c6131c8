import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.jdbc.JdbcCatalog;
import org.apache.iceberg.rest.RESTCatalogAdapter;
import org.apache.iceberg.rest.RESTCatalogServlet;
import org.eclipse.jetty.ee10.servlet.FilterHolder;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/**
 * Iceberg's own REST catalog of its tests, over a JDBC catalog on SQLite, on the loopback interface alone:
 * {@code IcebergRest.java PORT FOLDER WAREHOUSE [KEY=VALUE…]}, the last of which are Hadoop's settings.
 *
 * <p>The token "wrong" is not known, and "reader" may read alone.
 */
public class IcebergRest {
    public static void main(String[] arguments) throws Exception {
        Map<String, String> settings = new HashMap<>();
        settings.put("uri", "jdbc:sqlite:" + arguments[1] + "/rest.db?journal_mode=WAL&busy_timeout=60000");
        settings.put("warehouse", arguments[2]);
        settings.put("jdbc.schema-version", "V1");
        Configuration conf = new Configuration();
        for (int i = 3; i < arguments.length; i++) {
            String[] parts = arguments[i].split("=", 2);
            conf.set(parts[0], parts[1]);
        }
        JdbcCatalog catalog = new JdbcCatalog();
        catalog.setConf(conf);
        catalog.initialize("rest", settings);

        Server server = new Server();
        ServerConnector connector = new ServerConnector(server);
        connector.setHost("127.0.0.1");
        connector.setPort(Integer.parseInt(arguments[0]));
        server.addConnector(connector);
        ServletContextHandler context = new ServletContextHandler("/");
        context.addFilter(new FilterHolder(new Rights()), "/*", EnumSet.of(DispatcherType.REQUEST));
        context.addServlet(new ServletHolder(new RESTCatalogServlet(new RESTCatalogAdapter(catalog))), "/*");
        server.setHandler(context);
        server.start();
        server.join();
    }

    /** Answers 401 and 403 as the specification of the REST catalog has them. */
    private static final class Rights implements Filter {
        @Override
        public void doFilter(ServletRequest asked, ServletResponse answer, FilterChain next)
            throws IOException, ServletException {
            HttpServletRequest request = (HttpServletRequest) asked;
            String token = String.valueOf(request.getHeader("Authorization"));
            boolean reads = request.getMethod().equals("GET") || request.getMethod().equals("HEAD");
            if (token.endsWith(" wrong")) {
                refuse((HttpServletResponse) answer, 401, "NotAuthorizedException", "Not authorized: unknown token");
            } else if (token.endsWith(" reader") && !reads) {
                refuse((HttpServletResponse) answer, 403, "ForbiddenException", "Forbidden: this token may read alone");
            } else {
                next.doFilter(asked, answer);
            }
        }

        private static void refuse(HttpServletResponse answer, int code, String type, String message)
            throws IOException {
            answer.setStatus(code);
            answer.setContentType("application/json");
            String text = "{\"error\": {\"message\": \"%s\", \"type\": \"%s\", \"code\": %d}}";
            answer.getWriter().write(String.format(text, message, type, code));
        }
    }
}
