#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "flow/ops.hpp"

namespace plim::flow {
namespace {

using Type = Option::Type;
using Kind = OpEntry::Kind;

constexpr std::array kGenerator{
    Option{"size", Type::integer, "5000", "records in all (once), or per slice (persistent)", false,
           "", 1},
    Option{"slice_size", Type::integer, "", "records per slice; else the sender's size, else 5000",
           false, "", 1},
    Option{"shape", Type::text, "\"full\"", "full records, or small ones with id and value only",
           false, "full|small"},
    Option{"start", Type::text, "\"1970-01-01\"",
           "first date, for the formats that draw one between two"},
    Option{"end", Type::text, "", "last date; else now"},
    Option{"format", Type::text, "\"dateNow\"", "how the date is made", false,
           "dateNow|utcDate|isoBetween|utcBetween"},
    Option{"date_key", Type::text, "\"created\"", "the date's field"},
    Option{"set_id", Type::text, "", "add an id made of these letters", false,
           "base64url|hexadecimal|HEXADECIMAL"},
    Option{"id_start_key", Type::text, "", "what ids begin with"},
    Option{"delay", Type::any, "0", "wait in every slice: seconds, or \"500 ms\""},
    Option{"stress_test", Type::boolean, "false", "accepted; records are always made in bulk"},
};

constexpr std::array kFileReader{
    Option{"path", Type::text, "", "a file, or a folder whose files are read in order of name",
           true},
    Option{"size", Type::integer, "10000000", "bytes per slice", false, "", 1},
    Option{"format", Type::text, "\"ldjson\"", "what the lines are", false,
           "ldjson|json|csv|tsv|raw"},
    Option{"line_delimiter", Type::text, "\"\\n\"", "what ends a record: one byte, or \\r\\n"},
    Option{"field_delimiter", Type::text, "", "of csv and tsv: one byte"},
    Option{"fields", Type::texts, "", "names of the columns; else those in the first line"},
    Option{"compression", Type::text, "\"none\"", "gzip files are one slice each", false,
           "none|gzip"},
    Option{"file_per_slice", Type::boolean, "false", "do not divide files"},
    Option{"remove_header", Type::boolean, "true", "the first line of csv and tsv has names"},
    Option{"ignore_empty", Type::boolean, "true", "leave out columns without a value"},
    Option{"extra_args", Type::map, "", "accepted, not used"},
};

constexpr std::array kFilter{
    Option{"field", Type::text, "", "which field to look at; dots lead inside: a.b", true},
    Option{"value", Type::any, "", "what to compare it with; of a list, any"},
    Option{"filter_by", Type::text, "\"match\"", "which records are dropped: field FILTER_BY value",
           false, "match|regex|ip_range|gt|gte|lt|lte|exists"},
    Option{"invert", Type::boolean, "false", "the others are dropped, these stay"},
    Option{"array_index", Type::integer, "-1", "which element of an array; -1: any", false, "", -1},
    Option{"exception_rules", Type::any, "",
           "[{field, value, regex}, …]: who fits one of them stays"},
    Option{"filtered_to_dead_letter_queue", Type::boolean, "false", "not there yet"},
};

constexpr std::array kSetField{
    Option{"field", Type::text, "", "which field of the top level", true},
    Option{"value", Type::any, "", "its new value"},
    Option{"overwrite", Type::boolean, "false", "also where the field is there already"},
};

constexpr std::array kCopyField{
    Option{"source", Type::text, "", "field to copy", true},
    Option{"destination", Type::text, "", "field to write; what is there is replaced", true},
    Option{"delete_source", Type::boolean, "false", "move it instead"},
};

constexpr std::array kDropField{
    Option{"field", Type::text, "", "which field of the top level", true},
};

constexpr std::array kJq{
    Option{"expr", Type::text, "", "the program, or:"},
    Option{"file", Type::text, "", "a file with the program"},
    Option{"mode", Type::text, "\"map\"",
           "one result per record; filter: keep it if true; flatmap: any number", false,
           "map|filter|flatmap"},
};

constexpr std::array kExec{
    Option{"command", Type::text, "", "program, looked up in PATH", true},
    Option{"args", Type::texts, "[]", "its arguments"},
    Option{"env", Type::map, "{}", "variables on top of our own"},
    Option{"cwd", Type::text, "", "folder it runs in"},
    Option{"timeout", Type::duration, "60000", "longest time for one slice"},
    Option{"restart", Type::boolean, "true", "start it again after it has died"},
    Option{"mode", Type::text, "\"flatmap\"", "map: as many records as it was given", false,
           "map|flatmap"},
    Option{"framing", Type::text, "\"lines\"", "none: a plain filter, one process per slice", false,
           "lines|none"},
};

constexpr std::array kDelay{
    Option{"ms", Type::duration, "100", "how long each slice waits"},
};

constexpr std::array kStdout{
    Option{"limit", Type::integer, "0", "print only so many records of each slice, 0: all"},
};

constexpr std::array kFileExporter{
    Option{"path", Type::text, "", "folder to write into; made if missing", true, "", 0,
           "file_path"},
    Option{"extension", Type::text, "", "of the files, without a dot; else the format's"},
    Option{"format", Type::text, "\"ldjson\"", "what to write", false, "ldjson|json|csv|tsv|raw"},
    Option{"compression", Type::text, "\"none\"", "", false, "none|gzip"},
    Option{"fields", Type::texts, "", "columns of csv and tsv"},
    Option{"field_delimiter", Type::text, "", "of csv and tsv: one byte"},
    Option{"include_header", Type::boolean, "false", "first line with the names of the columns"},
    Option{"file_per_slice", Type::boolean, "false", "one file per slice, else one per worker"},
    Option{"idempotent", Type::boolean, "false",
           "exactly once: one file per slice, there whole or not at all"},
    Option{"concurrency", Type::integer, "10", "accepted; a worker writes one file at a time"},
};

constexpr std::array kOps{
    OpEntry{.name = "data_generator",
            .aliases = "elasticsearch_data_generator",
            .kind = Kind::reader,
            .summary = "Makes records up",
            .options = kGenerator,
            .slicer = make_generator_slicer,
            .fetcher = make_generator,
            .check = check_generator},
    OpEntry{.name = "file_reader",
            .kind = Kind::reader,
            .summary = "Reads lines of files",
            .options = kFileReader,
            .slicer = make_file_slicer,
            .fetcher = make_file_fetcher,
            .check = check_file_reader},
    OpEntry{.name = "filter",
            .summary = "Drops the records whose field fits, or with invert all others",
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
            .summary = "Takes a field away",
            .options = kDropField,
            .operation = make_drop_field},
    OpEntry{.name = "jq",
            .summary = "Runs a jq program over every record",
            .options = kJq,
            .operation = make_jq,
            .check = check_jq},
    OpEntry{.name = "exec",
            .summary = "Sends records through a program of yours",
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
