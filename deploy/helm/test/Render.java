import com.marcnuri.helm.Helm;
import com.marcnuri.helm.LintResult;
import com.marcnuri.helm.TemplateCommand;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Renders a chart once for each line of standard input: a name, then values files, separated by
 * tabs. Helm itself does it, as a library. Writes NAME.yaml, or NAME.error with what Helm said, and
 * lint.txt: the messages of {@code helm lint --strict}, after a line "ok" or "failed".
 *
 * <p>Arguments: the chart, the folder for the output, the chart to lint, the version of Kubernetes,
 * the name of the release.
 */
final class Render {
  public static void main(String[] arguments) throws IOException {
    Path chart = Path.of(arguments[0]);
    Path target = Path.of(arguments[1]);
    Path linted = Path.of(arguments[2]);
    LintResult lint = new Helm(linted).lint().strict().call();
    Files.writeString(
        target.resolve("lint.txt"),
        (lint.isFailed() ? "failed" : "ok") + "\n" + String.join("\n", lint.getMessages()) + "\n");
    for (String line : new String(System.in.readAllBytes()).lines().toList()) {
      List<String> fields = List.of(line.split("\t"));
      String name = fields.getFirst();
      TemplateCommand template =
          new Helm(chart)
              .template()
              .withName(arguments[4])
              .withNamespace("tracing")
              .withKubeVersion(arguments[3]);
      fields.stream().skip(1).map(Path::of).forEach(template::withValuesFile);
      try {
        Files.writeString(target.resolve(name + ".yaml"), template.call());
      } catch (IllegalStateException e) {
        Files.writeString(target.resolve(name + ".error"), e.getMessage() + "\n");
      }
    }
  }

  private Render() {}
}
