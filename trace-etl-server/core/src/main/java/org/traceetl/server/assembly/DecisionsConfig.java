package org.traceetl.server.assembly;

import java.time.Duration;
import org.traceetl.server.config.SigningConfig;

/** The topic of the fleet's decisions, which several features use and one configures. */
public interface DecisionsConfig {
  String topic();

  /** Between two looks at the topic. */
  Duration interval();

  SigningConfig signing();

  /** The same for windows of this length: between two looks each queue has one. */
  DecisionsConfig over(Duration window);
}
