/** Follows the pods of the node, and completes resources with the attributes of their pod. */
package org.traceetl.agent.kubernetes;
