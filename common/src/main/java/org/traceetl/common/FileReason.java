package org.traceetl.common;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;

/** The operating system's reason in a failure of a file, whose message may be only its path. */
public final class FileReason {
  private FileReason() {}

  /** Returns the reason, such as {@code Permission denied}. */
  public static String of(IOException failure) {
    return switch (failure) {
      case CharacterCodingException e -> "not UTF-8";
      case NoSuchFileException e -> "No such file or directory";
      case AccessDeniedException e -> "Permission denied";
      case FileAlreadyExistsException e -> "File exists";
      case FileSystemException e when e.getReason() != null -> e.getReason();
      default -> String.valueOf(failure.getMessage());
    };
  }

  /** Returns what is wrong with a file that could not be read. */
  public static String unreadable(IOException failure) {
    return failure instanceof NoSuchFileException
        ? "does not exist"
        : "cannot be read (" + of(failure) + ")";
  }
}
