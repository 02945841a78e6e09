#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "flow/ops.hpp"

namespace plim::flow {
namespace {

using Type = Option::Type;
using Kind = OpEntry::Kind;

constexpr std::array kGenerator{
    Option{"size", Type::integer, "5000",
           "number of records (once), or records per slice (persistent)", false, "", 1},
    Option{"slice_size", Type::integer, "",
           "records per slice (default: the sender's size, or 5000)", false, "", 1},
    Option{"shape", Type::text, "\"full\"", "full records, or small ones with id and value only",
           false, "full|small"},
    Option{"start", Type::text, "\"1970-01-01\"", "first date, for isoBetween and utcBetween"},
    Option{"end", Type::text, "", "last date (default: now)"},
    Option{"format", Type::text, "\"dateNow\"", "format of the date", false,
           "dateNow|utcDate|isoBetween|utcBetween"},
    Option{"date_key", Type::text, "\"created\"", "name of the date field"},
    Option{"set_id", Type::text, "", "add an ID with these characters", false,
           "base64url|hexadecimal|HEXADECIMAL"},
    Option{"id_start_key", Type::text, "", "prefix of the IDs"},
    Option{"delay", Type::any, "0", "wait in every slice: seconds, or \"500 ms\""},
    Option{"stress_test", Type::boolean, "false", "accepted, no effect"},
};

constexpr std::array kFileReader{
    Option{"path", Type::text, "",
           "a file, or a folder whose files are read in the order of their names", true},
    Option{"size", Type::integer, "10000000", "bytes per slice", false, "", 1},
    Option{"format", Type::text, "\"ldjson\"", "format of the files", false,
           "ldjson|json|csv|tsv|raw"},
    Option{"line_delimiter", Type::text, "\"\\n\"", "end of a record: one byte, or \\r\\n"},
    Option{"field_delimiter", Type::text, "", "delimiter of csv and tsv columns, one byte"},
    Option{"fields", Type::texts, "", "names of the columns (default: the first line)"},
    Option{"compression", Type::text, "\"none\"",
           "compression of the files; a gzip file is one slice", false, "none|gzip"},
    Option{"file_per_slice", Type::boolean, "false", "read each file as one slice"},
    Option{"remove_header", Type::boolean, "true", "the first line of csv and tsv is a header"},
    Option{"ignore_empty", Type::boolean, "true", "omit columns without a value"},
    Option{"extra_args", Type::map, "", "accepted, no effect"},
};

constexpr std::array kFilter{
    Option{"field", Type::text, "", "field to test; a.b is a field of an object", true},
    Option{"value", Type::any, "", "value to compare with, or a list of values"},
    Option{"filter_by", Type::text, "\"match\"", "drops records if field FILTER_BY value is true",
           false, "match|regex|ip_range|gt|gte|lt|lte|exists"},
    Option{"invert", Type::boolean, "false", "keep these records and drop all others"},
    Option{"array_index", Type::integer, "-1", "element of an array to test; -1: any element",
           false, "", -1},
    Option{"exception_rules", Type::any, "",
           "[{field, value, regex}, …]: keep records that match one of these rules"},
    Option{"filtered_to_dead_letter_queue", Type::boolean, "false", "not supported yet"},
};

constexpr std::array kSetField{
    Option{"field", Type::text, "", "name of the field, on the top level", true},
    Option{"value", Type::any, "", "its new value"},
    Option{"overwrite", Type::boolean, "false", "replace the field if it exists"},
};

constexpr std::array kCopyField{
    Option{"source", Type::text, "", "field to copy", true},
    Option{"destination", Type::text, "", "field to write; replaced if it exists", true},
    Option{"delete_source", Type::boolean, "false", "move the field instead of copying it"},
};

constexpr std::array kDropField{
    Option{"field", Type::text, "", "name of the field, on the top level", true},
};

constexpr std::array kJq{
    Option{"expr", Type::text, "", "the program (or use file)"},
    Option{"file", Type::text, "", "path of a file with the program"},
    Option{"mode", Type::text, "\"map\"",
           "map: one result per record; filter: keep it if true; flatmap: any number", false,
           "map|filter|flatmap"},
};

constexpr std::array kExec{
    Option{"command", Type::text, "", "program, searched in PATH", true},
    Option{"args", Type::texts, "[]", "arguments of the program"},
    Option{"env", Type::map, "{}", "additional environment variables"},
    Option{"cwd", Type::text, "", "working directory"},
    Option{"timeout", Type::duration, "60000", "time limit for one slice"},
    Option{"restart", Type::boolean, "true", "restart the program after it ended"},
    Option{"mode", Type::text, "\"flatmap\"", "map: it must return as many records as it gets",
           false, "map|flatmap"},
    Option{"framing", Type::text, "\"lines\"",
           "lines: frames, one process per worker; none: one process per slice", false,
           "lines|none"},
};

constexpr std::array kDelay{
    Option{"ms", Type::duration, "100", "time that each slice waits"},
};

constexpr std::array kStdout{
    Option{"limit", Type::integer, "0", "number of records to print per slice, 0 for all"},
};

constexpr std::array kFileExporter{
    Option{"path", Type::text, "", "folder for the files; created if it does not exist", true, "",
           0, "file_path"},
    Option{"extension", Type::text, "",
           "extension of the files, without a dot (default: the format)"},
    Option{"format", Type::text, "\"ldjson\"", "format of the files", false,
           "ldjson|json|csv|tsv|raw"},
    Option{"compression", Type::text, "\"none\"", "", false, "none|gzip"},
    Option{"fields", Type::texts, "", "columns of csv and tsv"},
    Option{"field_delimiter", Type::text, "", "delimiter of csv and tsv columns, one byte"},
    Option{"include_header", Type::boolean, "false",
           "write the names of the columns as the first line"},
    Option{"file_per_slice", Type::boolean, "false",
           "write one file per slice instead of one per worker"},
    Option{"idempotent", Type::boolean, "false",
           "exactly once: one file per slice, complete or not at all"},
    Option{"concurrency", Type::integer, "10", "accepted; a worker writes one file at a time"},
};

constexpr std::array kOps{
    OpEntry{.name = "data_generator",
            .aliases = "elasticsearch_data_generator",
            .kind = Kind::reader,
            .summary = "Generates records",
            .options = kGenerator,
            .slicer = make_generator_slicer,
            .fetcher = make_generator,
            .check = check_generator},
    OpEntry{.name = "file_reader",
            .kind = Kind::reader,
            .summary = "Reads records from files",
            .options = kFileReader,
            .slicer = make_file_slicer,
            .fetcher = make_file_fetcher,
            .check = check_file_reader},
    OpEntry{.name = "filter",
            .summary = "Drops records whose field matches, or with invert all others",
            .options = kFilter,
            .operation = make_filter,
            .check = check_filter},
    OpEntry{.name = "set_field",
            .summary = "Sets a field of every record",
            .options = kSetField,
            .operation = make_set_field},
    OpEntry{.name = "copy_field",
            .summary = "Copies or moves a field",
            .options = kCopyField,
            .operation = make_copy_field},
    OpEntry{.name = "drop_field",
            .summary = "Removes a field",
            .options = kDropField,
            .operation = make_drop_field},
    OpEntry{.name = "jq",
            .summary = "Runs a jq program over every record",
            .options = kJq,
            .operation = make_jq,
            .check = check_jq},
    OpEntry{.name = "exec",
            .summary = "Sends records through a program",
            .options = kExec,
            .operation = make_exec},
    OpEntry{.name = "noop", .summary = "Does nothing", .operation = make_noop},
    OpEntry{.name = "delay",
            .summary = "Waits in every slice",
            .options = kDelay,
            .operation = make_delay},
    OpEntry{.name = "stdout",
            .kind = Kind::sender,
            .summary = "Prints records",
            .options = kStdout,
            .operation = make_stdout,
            .guarantee = stdout_guarantee},
    OpEntry{.name = "file_exporter",
            .aliases = "save_file",
            .kind = Kind::sender,
            .summary = "Writes records to files",
            .options = kFileExporter,
            .operation = make_file_exporter,
            .check = check_file_exporter,
            .guarantee = file_exporter_guarantee},
};

}  // namespace

std::span<const OpEntry> op_table() {
  return kOps;
}

const OpEntry* find_op(std::string_view name) {
  for (const OpEntry& entry : kOps) {
    if (entry.name == name) return &entry;
    for (std::string_view alias : split(entry.aliases, '|'))
      if (!alias.empty() && alias == name) return &entry;
  }
  return nullptr;
}

std::vector<std::string> nearest_ops(std::string_view name) {
  std::vector<std::string_view> names;
  for (const OpEntry& entry : kOps) names.push_back(entry.name);
  return nearest_names(name, names, 3);
}

std::string_view kind_name(OpEntry::Kind kind) {
  switch (kind) {
    case Kind::reader:
      return "reader";
    case Kind::processor:
      return "processor";
    case Kind::sender:
      return "sender";
  }
  return "";
}

}  // namespace plim::flow
