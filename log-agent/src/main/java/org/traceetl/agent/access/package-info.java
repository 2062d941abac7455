/** Who may connect: certificates, keys and tokens in files, checked before they are used. */
package org.traceetl.agent.access;
