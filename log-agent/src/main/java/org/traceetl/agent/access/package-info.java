/** Controls who may connect: certificates, keys and tokens, checked before they are used. */
package org.traceetl.agent.access;
