package org.traceetl.proto;

import static org.traceetl.proto.RecordFormat.malformed;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.traceetl.proto.Demand.SlowRule;
import org.traceetl.proto.MalformedDecisionsException.Reason;

/**
 * The rules of applications that servers apply while they run: from which duration spans are slow,
 * which attributes distinguish series, templates of span names, buckets and unit, measures, and
 * objectives. Agents do not read them, because the demand contains the result. A record of the
 * routing topic has all rules, so only the newest one is needed. Immutable.
 *
 * <p>In the layout of {@link RecordFormat}, the magic is {@code TERL}, the epoch is the revision of
 * the rules, and the names are patterns of at most {@value #MAX_RULES} rules, of at most {@value
 * Demand#MAX_TEXT_BYTES} bytes. The value of a pattern:
 *
 * <pre>
 *  0  place          2 bytes  of the rule among all rules, from 0; each place once; 16,384 more:
 *                             measures follow the templates; 8,192 more: objectives follow
 *  2  slower than    8 bytes  nanoseconds, 0 to 365 days; -1: absent
 * 10  thresholds     2 bytes  at most 128 of all rules together; 65,535: absent; then for each
 *     application    text     pattern
 *     kinds          1 byte   bit k: kind k, 0 to 5; 0: all kinds
 *     threshold      8 bytes  nanoseconds, 0 to 365 days
 *     dimensions     2 bytes  at most 512 of all rules together; 65,535: absent; then for each
 *     source         1 byte   0: the span, else its resource; 1: the span; 2: the resource; 4 more:
 *                             a label follows the attribute
 *     attribute      text     key
 *     label          text     if it follows
 *     templates      2 bytes  at most 256 of all rules together; 65,535: absent; then for each
 *     application    text     pattern
 *     pattern        text     of at most 1,024 bytes
 *     template       text     of at most 1,024 bytes
 *     form           if the place has the bit 0x8000 in addition:
 *       kind         1 byte   1: classic; 2: native; 3: both; 0: absent
 *       schema       1 byte   -4 to 8; 127: absent
 *       unit         1 byte   1: milliseconds; 2: seconds; 0: absent
 *       bounds       2 bytes  at most 1,024 of all rules together; 65,535: absent; then for each
 *         bound      8 bytes  nanoseconds, 1 to 365 days, ascending
 *     measures       2 bytes  if the place has the bit 0x4000 in addition; at most 512 of all rules together; then for each
 *     name           text     of at most 128 bytes
 *     description    text
 *     unit           text     of at most 63 bytes
 *     type           1 byte   0: histogram; 1: counter
 *     value          1 byte   0: duration; 1: one; 2: an attribute
 *     attribute      text     if it is the value
 *     kinds          1 byte   bit k: kind k, 0 to 5; 0: all kinds
 *     requires       2 bytes  at most 8; then for each a text: an attribute
 *     dimensions     2 bytes  at most 16; then each as above
 *     labels         2 bytes  at most 8; then for each two texts: label and value
 *     bounds         2 bytes  at most 64; then for each 8 bytes: a double in the unit
 *     objectives     2 bytes  if the place has the bit 0x2000 in addition; at most 512 of all rules together; then for each
 *     name           text     of at most 63 bytes
 *     target         8 bytes  a double: percent, above 0 and below 100
 *     faster than    8 bytes  nanoseconds, 1 to 365 days; -1: absent
 *     window         2 bytes  days, 7 to 90
 *     kinds          1 byte   bit k: kind k, 0 to 5; 64 more: the operation follows
 *     operation      text     pattern, if it follows
 * </pre>
 *
 * <p>Measures of all rules together have at most 1 MiB.
 *
 * <p>A text has its length (2 bytes, 1 to 256 unless it is given), then UTF-8.
 *
 * @param epoch revision of the rules
 * @param decidedMillis when a server published them, milliseconds since 1970
 * @param applications rules by the pattern of their applications; the matching rule with the lowest
 *     place applies
 */
public record RulesRecord(long epoch, long decidedMillis, Map<String, Rule> applications)
    implements RoutingRecord {
  /** Most rules in one record. */
  public static final int MAX_RULES = 128;

  /** Most thresholds of all rules. */
  public static final int MAX_THRESHOLDS = 128;

  /** Most dimensions of all rules. */
  public static final int MAX_DIMENSIONS = 512;

  /** Most templates of all rules. */
  public static final int MAX_TEMPLATES = 256;

  /** Most measures of all rules. */
  public static final int MAX_MEASURES = 512;

  /** Most objectives of all rules. */
  public static final int MAX_OBJECTIVES = 512;

  /** Most bytes of the measures of all rules. */
  public static final int MAX_MEASURE_BYTES = 1 << 20;

  /** Most bytes of the pattern of a template, and of the template. */
  public static final int MAX_TEMPLATE_BYTES = 1_024;

  /** Most bounds of buckets of all rules. */
  public static final int MAX_BOUNDS = 1_024;

  /** Highest threshold, and bound. */
  public static final long MAX_NANOS = TimeUnit.DAYS.toNanos(365);

  private static final int MAGIC = 0x5445524C;
  private static final int ABSENT = -1;
  private static final int ABSENT_LIST = 0xffff;

  /** Added to the place of a rule with a form. */
  private static final int HAS_FORM = 0x8000;

  private static final int ABSENT_SCHEMA = 127;
  private static final int MIN_SCHEMA = -4;
  private static final int MAX_SCHEMA = 8;

  /** Kind, schema, unit and the number of bounds. */
  private static final int FORM_BYTES = 3 + Short.BYTES;

  /** Added to the place of a rule with measures. Servers of earlier releases refuse it. */
  private static final int HAS_MEASURES = 0x4000;

  /** Added to the place of a rule with objectives. Servers of earlier releases refuse it. */
  private static final int HAS_OBJECTIVES = 0x2000;

  /** Target, threshold, window and kinds of an objective. */
  private static final int OBJECTIVE_BYTES = Double.BYTES + Long.BYTES + Short.BYTES + 1;

  /** Place, threshold and the lengths of three lists. */
  private static final int FIXED_BYTES = Short.BYTES + Long.BYTES + 3 * Short.BYTES;

  /** Bytes of a threshold after its pattern. */
  private static final int THRESHOLD_BYTES = 1 + Long.BYTES;

  /** Format of the record in the topic. */
  public static final RecordFormat<RulesRecord, Rule> FORMAT =
      new RecordFormat<>(
          MAGIC,
          MAX_RULES,
          Demand.MAX_TEXT_BYTES,
          MAX_RULES * (FIXED_BYTES + FORM_BYTES)
              + MAX_BOUNDS * Long.BYTES
              + MAX_THRESHOLDS * (Short.BYTES + Demand.MAX_TEXT_BYTES + THRESHOLD_BYTES)
              + MAX_DIMENSIONS * (1 + 2 * (Short.BYTES + Demand.MAX_TEXT_BYTES))
              + MAX_TEMPLATES
                  * (Short.BYTES + Demand.MAX_TEXT_BYTES + 2 * (Short.BYTES + MAX_TEMPLATE_BYTES))
              + 2 * MAX_RULES * Short.BYTES
              + MAX_MEASURE_BYTES
              + MAX_OBJECTIVES
                  * (2 * Short.BYTES
                      + Objective.MAX_NAME_BYTES
                      + Demand.MAX_TEXT_BYTES
                      + OBJECTIVE_BYTES),
          new RuleFormat(),
          RulesRecord::new);

  /** No rules published yet. */
  public static final RulesRecord NONE = new RulesRecord(0, 0, Map.of());

  /** Where an attribute is read. The ordinal is its number in the record. */
  public enum Source {
    /** The span, and if it lacks the attribute, the resource. */
    ANY,
    /** The span only. */
    SPAN,
    /** The resource only. */
    RESOURCE
  }

  /**
   * An attribute that distinguishes series.
   *
   * @param label null for that which follows from the attribute's key
   */
  public record Dimension(String attribute, String label, Source source) {
    /**
     * @throws IllegalArgumentException if a text is not valid
     */
    public Dimension {
      if (!Demand.takesText(attribute) || !(label == null || Demand.takesText(label))) {
        throw new IllegalArgumentException("a dimension with an empty or too long text");
      }
    }
  }

  /**
   * A template of span names.
   *
   * @param application pattern of applications
   * @param pattern regular expression of names
   */
  public record Template(String application, String pattern, String template) {
    /**
     * @throws IllegalArgumentException if a text is not valid
     */
    public Template {
      if (!Demand.takesText(application)
          || !takesTemplateText(pattern)
          || !takesTemplateText(template)) {
        throw new IllegalArgumentException("a template with an empty or too long text");
      }
    }
  }

  /** What a measure shows. The ordinal is its number in the record. */
  public enum MeasureType {
    HISTOGRAM,
    COUNTER
  }

  /** What a span adds to a measure. The ordinal is its number in the record. */
  public enum MeasureValue {
    DURATION,
    ONE,
    ATTRIBUTE
  }

  /**
   * A label that all series of a measure have.
   *
   * @param label of 1 to {@value Demand#MAX_TEXT_BYTES} bytes
   * @param value of 1 to {@value Demand#MAX_TEXT_BYTES} bytes
   */
  public record Constant(String label, String value) {
    /**
     * @throws IllegalArgumentException if a text is not valid
     */
    public Constant {
      if (!Demand.takesText(label) || !Demand.takesText(value)) {
        throw new IllegalArgumentException("a label with an empty or too long text");
      }
    }
  }

  /**
   * A metric of spans by a name of its own.
   *
   * @param attribute whose number is the value; null for other values
   * @param kinds bit k is set for kind k; 0 for all kinds
   * @param requires attributes that spans must have
   * @param bounds of a histogram, in the unit
   */
  public record Measure(
      String name,
      String description,
      String unit,
      MeasureType type,
      MeasureValue value,
      String attribute,
      int kinds,
      List<String> requires,
      List<Dimension> dimensions,
      List<Constant> labels,
      List<Double> bounds) {
    /** Most attributes that a measure requires. */
    public static final int MAX_REQUIRES = 8;

    /** Most dimensions of a measure. */
    public static final int MAX_DIMENSIONS = 16;

    /** Most labels of a measure. */
    public static final int MAX_LABELS = 8;

    /** Most bounds of a measure. */
    public static final int MAX_BOUNDS = 64;

    /**
     * @throws IllegalArgumentException if a text is not valid, or a list too long
     */
    public Measure {
      requires = List.copyOf(requires);
      dimensions = List.copyOf(dimensions);
      labels = List.copyOf(labels);
      bounds = List.copyOf(bounds);
      if (!Demand.takesText(name)
          || !Demand.takesText(description)
          || !Demand.takesText(unit)
          || (value == MeasureValue.ATTRIBUTE) != (attribute != null)
          || !(attribute == null || Demand.takesText(attribute))
          || kinds < 0
          || kinds >= 1 << Compact.MAX_KIND + 1
          || !requires.stream().allMatch(Demand::takesText)
          || requires.size() > MAX_REQUIRES
          || dimensions.size() > MAX_DIMENSIONS
          || labels.size() > MAX_LABELS
          || bounds.size() > MAX_BOUNDS) {
        throw new IllegalArgumentException("a measure with an invalid text, number or list");
      }
    }
  }

  /**
   * A service level objective.
   *
   * @param target percent of the events that are to be good
   * @param fasterThanNanos a good event takes less time; null for any
   * @param days length of the window, 7 to 90
   * @param kinds bit k is set for kind k, one at least
   * @param operation pattern of the names of spans; null for all
   */
  public record Objective(
      String name, double target, Long fasterThanNanos, int days, int kinds, String operation) {
    /** Most bytes of a name. */
    public static final int MAX_NAME_BYTES = 63;

    private static final int MIN_DAYS = 7;
    private static final int MAX_DAYS = 90;
    private static final double ALL = 100;

    /**
     * @throws IllegalArgumentException if a text is not valid, or a number out of range
     */
    public Objective {
      if (!RecordFormat.isText(name, MAX_NAME_BYTES)
          || !(target > 0 && target < ALL)
          || fasterThanNanos != null && (fasterThanNanos < 1 || fasterThanNanos > MAX_NANOS)
          || days < MIN_DAYS
          || days > MAX_DAYS
          || kinds < 1
          || kinds >= 1 << Compact.MAX_KIND + 1
          || !(operation == null || Demand.takesText(operation))) {
        throw new IllegalArgumentException("an objective with an invalid text or number");
      }
    }
  }

  /** The buckets of a series. */
  public enum Kind {
    CLASSIC,
    NATIVE,
    BOTH
  }

  /** The unit of durations. */
  public enum Unit {
    MILLISECONDS,
    SECONDS
  }

  /**
   * Buckets and unit of series. What is null is that of each server's configuration.
   *
   * @param boundsNanos upper bounds of the finite classic buckets, ascending
   * @param kind which buckets series have
   * @param nativeSchema resolution of native buckets, -4 to 8
   * @param unit of durations
   */
  public record Form(List<Long> boundsNanos, Kind kind, Integer nativeSchema, Unit unit) {
    /** No key is present. */
    public static final Form NONE = new Form(null, null, null, null);

    /**
     * @throws IllegalArgumentException if a number is out of range
     */
    public Form {
      boundsNanos = boundsNanos == null ? null : List.copyOf(boundsNanos);
      long previous = 0;
      boolean inRange =
          nativeSchema == null || nativeSchema >= MIN_SCHEMA && nativeSchema <= MAX_SCHEMA;
      for (long bound : boundsNanos == null ? List.<Long>of() : boundsNanos) {
        inRange &= bound > previous && bound <= MAX_NANOS;
        previous = bound;
      }
      if (!inRange) {
        throw new IllegalArgumentException("a schema or bounds out of range");
      }
    }
  }

  /**
   * The rule of some applications. What is null is that of each server's configuration.
   *
   * @param place of the rule among all rules, 0 to {@value RulesRecord#MAX_RULES} - 1
   * @param slowerThanNanos a span of at least this duration is slow
   * @param thresholds exceptions, of which the first that matches applies
   * @param dimensions attributes that distinguish series
   * @param templates templates of span names, of which the first that matches applies
   * @param form buckets and unit of series
   * @param measures metrics of spans by names of their own
   * @param objectives service level objectives
   */
  public record Rule(
      int place,
      Long slowerThanNanos,
      List<SlowRule> thresholds,
      List<Dimension> dimensions,
      List<Template> templates,
      Form form,
      List<Measure> measures,
      List<Objective> objectives) {
    /** A rule without objectives; as the other constructor. */
    public Rule(
        int place,
        Long slowerThanNanos,
        List<SlowRule> thresholds,
        List<Dimension> dimensions,
        List<Template> templates,
        Form form,
        List<Measure> measures) {
      this(place, slowerThanNanos, thresholds, dimensions, templates, form, measures, null);
    }

    /** A rule without measures and objectives; as the other constructor. */
    public Rule(
        int place,
        Long slowerThanNanos,
        List<SlowRule> thresholds,
        List<Dimension> dimensions,
        List<Template> templates,
        Form form) {
      this(place, slowerThanNanos, thresholds, dimensions, templates, form, null);
    }

    /** A rule without form and measures; as the other constructor. */
    public Rule(
        int place,
        Long slowerThanNanos,
        List<SlowRule> thresholds,
        List<Dimension> dimensions,
        List<Template> templates) {
      this(place, slowerThanNanos, thresholds, dimensions, templates, Form.NONE);
    }

    /**
     * @throws IllegalArgumentException if a number is out of range
     */
    public Rule {
      thresholds = thresholds == null ? null : List.copyOf(thresholds);
      dimensions = dimensions == null ? null : List.copyOf(dimensions);
      templates = templates == null ? null : List.copyOf(templates);
      measures = measures == null ? null : List.copyOf(measures);
      objectives = objectives == null ? null : List.copyOf(objectives);
      boolean inRange =
          (slowerThanNanos == null || isThreshold(slowerThanNanos))
              && (thresholds == null
                  || thresholds.stream().allMatch(each -> isThreshold(each.nanos())));
      if (place < 0 || place >= MAX_RULES || !inRange) {
        throw new IllegalArgumentException("a rule at " + place + ", or a threshold out of range");
      }
    }

    private static boolean isThreshold(long nanos) {
      return nanos >= 0 && nanos <= MAX_NANOS;
    }
  }

  /**
   * @throws IllegalArgumentException if there are more rules, thresholds, dimensions, templates,
   *     measures or objectives than a record holds, a pattern that it cannot hold, or two rules at
   *     one place
   */
  public RulesRecord {
    applications = Map.copyOf(applications);
    int rules = applications.size();
    int thresholds = sum(applications, Rule::thresholds);
    int dimensions = sum(applications, Rule::dimensions);
    int templates = sum(applications, Rule::templates);
    int bounds = sum(applications, rule -> rule.form().boundsNanos());
    int measures = sum(applications, Rule::measures);
    int objectives = sum(applications, Rule::objectives);
    long places =
        applications.values().stream()
            .mapToInt(Rule::place)
            .filter(place -> place < rules)
            .distinct()
            .count();
    if (rules > MAX_RULES
        || thresholds > MAX_THRESHOLDS
        || dimensions > MAX_DIMENSIONS
        || templates > MAX_TEMPLATES
        || bounds > MAX_BOUNDS
        || measures > MAX_MEASURES
        || objectives > MAX_OBJECTIVES
        || measureBytes(applications.values()) > MAX_MEASURE_BYTES
        || places != rules
        || !applications.keySet().stream().allMatch(Demand::takesText)) {
      throw new IllegalArgumentException(
          rules
              + " rules with "
              + thresholds
              + " thresholds, "
              + dimensions
              + " dimensions, "
              + templates
              + " templates, "
              + bounds
              + " bounds, "
              + measures
              + " measures and "
              + objectives
              + " objectives, a wrong place or too long a pattern");
    }
  }

  private static int sum(Map<String, Rule> applications, Function<Rule, List<?>> list) {
    return applications.values().stream().map(list).mapToInt(RulesRecord::size).sum();
  }

  private static int size(List<?> list) {
    return list == null ? 0 : list.size();
  }

  /** Returns the bytes of the measures of some rules in a record. */
  public static int measureBytes(Collection<Rule> rules) {
    return rules.stream().mapToInt(rule -> RuleFormat.measureBytes(rule.measures)).sum();
  }

  /** Returns whether a record can contain this pattern of a template, or template. */
  public static boolean takesTemplateText(String text) {
    return RecordFormat.isText(text, MAX_TEMPLATE_BYTES);
  }

  /** Returns whether the other record has the same revision of the same rules. */
  public boolean sameContent(RulesRecord other) {
    return epoch == other.epoch && applications.equals(other.applications);
  }

  @Override
  public byte[] encode() {
    return FORMAT.encode(this, applications);
  }

  private static final class RuleFormat implements RecordFormat.Value<Rule> {
    /** Added to the number of a source. */
    private static final int HAS_LABEL = 4;

    /** Added to the kinds of an objective. */
    private static final int HAS_OPERATION = 0x40;

    private static final Source[] SOURCES = Source.values();
    private static final MeasureType[] TYPES = MeasureType.values();
    private static final MeasureValue[] VALUES = MeasureValue.values();

    /** Reads an element of a list. */
    private interface Element<T> {
      T read(ByteBuffer in) throws MalformedDecisionsException;
    }

    @Override
    public int bytes(Rule rule) {
      int bytes = FIXED_BYTES;
      for (SlowRule threshold : orEmpty(rule.thresholds)) {
        bytes += RecordFormat.textBytes(threshold.application()) + THRESHOLD_BYTES;
      }
      for (Dimension dimension : orEmpty(rule.dimensions)) {
        bytes += bytes(dimension);
      }
      for (Template template : orEmpty(rule.templates)) {
        bytes += RecordFormat.textBytes(template.application);
        bytes += RecordFormat.textBytes(template.pattern);
        bytes += RecordFormat.textBytes(template.template);
      }
      if (!rule.form.equals(Form.NONE)) {
        bytes += FORM_BYTES + Long.BYTES * size(rule.form.boundsNanos);
      }
      bytes += rule.measures == null ? 0 : Short.BYTES + measureBytes(rule.measures);
      bytes += rule.objectives == null ? 0 : Short.BYTES;
      for (Objective objective : orEmpty(rule.objectives)) {
        bytes += RecordFormat.textBytes(objective.name) + OBJECTIVE_BYTES;
        bytes += objective.operation == null ? 0 : RecordFormat.textBytes(objective.operation);
      }
      return bytes;
    }

    private static int bytes(Dimension dimension) {
      return 1
          + RecordFormat.textBytes(dimension.attribute)
          + (dimension.label == null ? 0 : RecordFormat.textBytes(dimension.label));
    }

    static int measureBytes(List<Measure> measures) {
      int bytes = 0;
      for (Measure measure : orEmpty(measures)) {
        bytes += RecordFormat.textBytes(measure.name);
        bytes += RecordFormat.textBytes(measure.description);
        bytes += RecordFormat.textBytes(measure.unit);
        bytes += measure.attribute == null ? 0 : RecordFormat.textBytes(measure.attribute);
        // Type, value and kinds, and the sizes of the lists.
        bytes += 3 + 4 * Short.BYTES + measure.bounds.size() * Double.BYTES;
        for (String key : measure.requires) {
          bytes += RecordFormat.textBytes(key);
        }
        for (Dimension dimension : measure.dimensions) {
          bytes += bytes(dimension);
        }
        for (Constant label : measure.labels) {
          bytes += RecordFormat.textBytes(label.label) + RecordFormat.textBytes(label.value);
        }
      }
      return bytes;
    }

    private static <T> List<T> orEmpty(List<T> list) {
      return list == null ? List.of() : list;
    }

    @Override
    public void write(ByteBuffer out, Rule rule) {
      boolean hasForm = !rule.form.equals(Form.NONE);
      int flags =
          (hasForm ? HAS_FORM : 0)
              | (rule.measures == null ? 0 : HAS_MEASURES)
              | (rule.objectives == null ? 0 : HAS_OBJECTIVES);
      out.putShort((short) (rule.place | flags));
      out.putLong(rule.slowerThanNanos == null ? ABSENT : rule.slowerThanNanos);
      putSize(out, rule.thresholds);
      for (SlowRule threshold : orEmpty(rule.thresholds)) {
        RecordFormat.putText(out, threshold.application());
        out.put((byte) threshold.kinds()).putLong(threshold.nanos());
      }
      putSize(out, rule.dimensions);
      orEmpty(rule.dimensions).forEach(dimension -> put(out, dimension));
      putSize(out, rule.templates);
      for (Template template : orEmpty(rule.templates)) {
        RecordFormat.putText(out, template.application);
        RecordFormat.putText(out, template.pattern);
        RecordFormat.putText(out, template.template);
      }
      if (hasForm) {
        writeForm(out, rule.form);
      }
      if (rule.measures != null) {
        putSize(out, rule.measures);
        rule.measures.forEach(measure -> put(out, measure));
      }
      if (rule.objectives != null) {
        putSize(out, rule.objectives);
        rule.objectives.forEach(objective -> put(out, objective));
      }
    }

    private static void put(ByteBuffer out, Objective objective) {
      RecordFormat.putText(out, objective.name);
      out.putDouble(objective.target);
      out.putLong(objective.fasterThanNanos == null ? ABSENT : objective.fasterThanNanos);
      out.putShort((short) objective.days);
      out.put((byte) (objective.kinds | (objective.operation == null ? 0 : HAS_OPERATION)));
      if (objective.operation != null) {
        RecordFormat.putText(out, objective.operation);
      }
    }

    private static void put(ByteBuffer out, Dimension dimension) {
      out.put((byte) (dimension.source.ordinal() | (dimension.label == null ? 0 : HAS_LABEL)));
      RecordFormat.putText(out, dimension.attribute);
      if (dimension.label != null) {
        RecordFormat.putText(out, dimension.label);
      }
    }

    private static void put(ByteBuffer out, Measure measure) {
      RecordFormat.putText(out, measure.name);
      RecordFormat.putText(out, measure.description);
      RecordFormat.putText(out, measure.unit);
      out.put((byte) measure.type.ordinal()).put((byte) measure.value.ordinal());
      if (measure.attribute != null) {
        RecordFormat.putText(out, measure.attribute);
      }
      out.put((byte) measure.kinds);
      putSize(out, measure.requires);
      measure.requires.forEach(key -> RecordFormat.putText(out, key));
      putSize(out, measure.dimensions);
      measure.dimensions.forEach(dimension -> put(out, dimension));
      putSize(out, measure.labels);
      for (Constant label : measure.labels) {
        RecordFormat.putText(out, label.label);
        RecordFormat.putText(out, label.value);
      }
      putSize(out, measure.bounds);
      measure.bounds.forEach(out::putDouble);
    }

    private static void writeForm(ByteBuffer out, Form form) {
      out.put(number(form.kind));
      out.put((byte) (form.nativeSchema == null ? ABSENT_SCHEMA : form.nativeSchema));
      out.put(number(form.unit));
      putSize(out, form.boundsNanos);
      orEmpty(form.boundsNanos).forEach(out::putLong);
    }

    /** Returns 0 for null. */
    private static byte number(Enum<?> value) {
      return (byte) (value == null ? 0 : value.ordinal() + 1);
    }

    private static Form form(ByteBuffer in) throws MalformedDecisionsException {
      RecordFormat.need(in, FORM_BYTES - Short.BYTES, "a form");
      Kind kind = value(in.get(), Kind.values());
      int schema = in.get();
      Unit unit = value(in.get(), Unit.values());
      return new Form(
          list(in, MAX_BOUNDS, "bounds", RuleFormat::nanos),
          kind,
          schema == ABSENT_SCHEMA ? null : (Integer) schema,
          unit);
    }

    private static Long nanos(ByteBuffer in) throws MalformedDecisionsException {
      RecordFormat.need(in, Long.BYTES, "a bound");
      return in.getLong();
    }

    private static <T> T value(int number, T[] values) throws MalformedDecisionsException {
      if (number < 0 || number > values.length) {
        throw malformed(Reason.CONTENT, "number " + number + " in a form");
      }
      return number == 0 ? null : values[number - 1];
    }

    private static void putSize(ByteBuffer out, List<?> list) {
      out.putShort((short) (list == null ? ABSENT_LIST : list.size()));
    }

    @Override
    public Rule read(ByteBuffer in) throws MalformedDecisionsException {
      int flags = HAS_FORM | HAS_MEASURES | HAS_OBJECTIVES;
      int place = RecordFormat.count(in, 0, flags | MAX_RULES - 1, "a place");
      boolean hasForm = (place & HAS_FORM) != 0;
      boolean hasMeasures = (place & HAS_MEASURES) != 0;
      boolean hasObjectives = (place & HAS_OBJECTIVES) != 0;
      place &= ~flags;
      if (place >= MAX_RULES) {
        throw malformed(Reason.CONTENT, place + " of a place");
      }
      RecordFormat.need(in, Long.BYTES, "a rule");
      long slowerThanNanos = in.getLong();
      return new Rule(
          place,
          slowerThanNanos == ABSENT ? null : (Long) slowerThanNanos,
          list(in, MAX_THRESHOLDS, "thresholds", RuleFormat::threshold),
          list(in, MAX_DIMENSIONS, "dimensions", RuleFormat::dimension),
          list(in, MAX_TEMPLATES, "templates", RuleFormat::template),
          hasForm ? form(in) : Form.NONE,
          hasMeasures ? list(in, MAX_MEASURES, "measures", RuleFormat::measure) : null,
          hasObjectives ? list(in, MAX_OBJECTIVES, "objectives", RuleFormat::objective) : null);
    }

    /** Returns null if the list is absent. */
    private static <T> List<T> list(ByteBuffer in, int max, String what, Element<T> element)
        throws MalformedDecisionsException {
      int count = RecordFormat.count(in, 0, ABSENT_LIST, what);
      if (count == ABSENT_LIST) {
        return null;
      }
      if (count > max) {
        throw malformed(Reason.CONTENT, count + " of " + what);
      }
      List<T> list = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        list.add(element.read(in));
      }
      return list;
    }

    private static SlowRule threshold(ByteBuffer in) throws MalformedDecisionsException {
      String application = RecordFormat.text(in, Demand.MAX_TEXT_BYTES, "a pattern");
      RecordFormat.need(in, THRESHOLD_BYTES, "a threshold");
      return new SlowRule(application, Byte.toUnsignedInt(in.get()), in.getLong());
    }

    private static Dimension dimension(ByteBuffer in) throws MalformedDecisionsException {
      RecordFormat.need(in, 1, "a dimension");
      int source = Byte.toUnsignedInt(in.get());
      boolean hasLabel = (source & HAS_LABEL) != 0;
      source &= ~HAS_LABEL;
      if (source >= SOURCES.length) {
        throw malformed(Reason.CONTENT, "source " + source + " of a dimension");
      }
      return new Dimension(
          RecordFormat.text(in, Demand.MAX_TEXT_BYTES, "an attribute"),
          hasLabel ? RecordFormat.text(in, Demand.MAX_TEXT_BYTES, "a label") : null,
          SOURCES[source]);
    }

    private static Measure measure(ByteBuffer in) throws MalformedDecisionsException {
      String name = RecordFormat.text(in, Demand.MAX_TEXT_BYTES, "a name");
      String description = RecordFormat.text(in, Demand.MAX_TEXT_BYTES, "a description");
      String unit = RecordFormat.text(in, Demand.MAX_TEXT_BYTES, "a unit");
      MeasureType type = constant(in, TYPES, "type");
      MeasureValue value = constant(in, VALUES, "value");
      String attribute =
          value == MeasureValue.ATTRIBUTE
              ? RecordFormat.text(in, Demand.MAX_TEXT_BYTES, "an attribute")
              : null;
      RecordFormat.need(in, 1, "kinds");
      return new Measure(
          name,
          description,
          unit,
          type,
          value,
          attribute,
          Byte.toUnsignedInt(in.get()),
          present(list(in, Measure.MAX_REQUIRES, "attributes", RuleFormat::attribute)),
          present(list(in, Measure.MAX_DIMENSIONS, "dimensions", RuleFormat::dimension)),
          present(list(in, Measure.MAX_LABELS, "labels", RuleFormat::label)),
          present(list(in, Measure.MAX_BOUNDS, "bounds", RuleFormat::bound)));
    }

    private static <T> T constant(ByteBuffer in, T[] constants, String what)
        throws MalformedDecisionsException {
      RecordFormat.need(in, 1, "a measure");
      int number = Byte.toUnsignedInt(in.get());
      if (number >= constants.length) {
        throw malformed(Reason.CONTENT, what + " " + number + " of a measure");
      }
      return constants[number];
    }

    /** Refuses an absent list where one is required. */
    private static <T> List<T> present(List<T> list) throws MalformedDecisionsException {
      if (list == null) {
        throw malformed(Reason.CONTENT, "a measure without a list");
      }
      return list;
    }

    private static String attribute(ByteBuffer in) throws MalformedDecisionsException {
      return RecordFormat.text(in, Demand.MAX_TEXT_BYTES, "an attribute");
    }

    private static Constant label(ByteBuffer in) throws MalformedDecisionsException {
      return new Constant(
          RecordFormat.text(in, Demand.MAX_TEXT_BYTES, "a label"),
          RecordFormat.text(in, Demand.MAX_TEXT_BYTES, "a value"));
    }

    private static Double bound(ByteBuffer in) throws MalformedDecisionsException {
      RecordFormat.need(in, Double.BYTES, "a bound");
      return in.getDouble();
    }

    private static Objective objective(ByteBuffer in) throws MalformedDecisionsException {
      String name = RecordFormat.text(in, Objective.MAX_NAME_BYTES, "a name");
      RecordFormat.need(in, OBJECTIVE_BYTES, "an objective");
      double target = in.getDouble();
      long fasterThanNanos = in.getLong();
      int days = in.getShort();
      int kinds = Byte.toUnsignedInt(in.get());
      boolean hasOperation = (kinds & HAS_OPERATION) != 0;
      return new Objective(
          name,
          target,
          fasterThanNanos == ABSENT ? null : (Long) fasterThanNanos,
          days,
          kinds & ~HAS_OPERATION,
          hasOperation ? RecordFormat.text(in, Demand.MAX_TEXT_BYTES, "a pattern") : null);
    }

    private static Template template(ByteBuffer in) throws MalformedDecisionsException {
      return new Template(
          RecordFormat.text(in, Demand.MAX_TEXT_BYTES, "a pattern"),
          RecordFormat.text(in, MAX_TEMPLATE_BYTES, "a pattern of names"),
          RecordFormat.text(in, MAX_TEMPLATE_BYTES, "a template"));
    }
  }
}
