#include "flow/csv.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/json_text.hpp"
#include "base/utf8.hpp"

namespace plim::flow {

void split_csv(std::string_view line, char delimiter, std::vector<std::string>& out) {
  out.clear();
  out.emplace_back();
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted) {
      if (c != '"') {
        out.back() += c;
      } else if (i + 1 < line.size() && line[i + 1] == '"') {
        out.back() += line[++i];
      } else {
        quoted = false;
      }
    } else if (c == '"' && out.back().empty()) {
      quoted = true;
    } else if (c == delimiter) {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
}

CsvReader::CsvReader(std::vector<std::string> names, char delimiter, bool ignore_empty)
    : delimiter_(delimiter), ignore_empty_(ignore_empty) {
  for (const std::string& name : names) {
    keys_.emplace_back();
    append_json_string(keys_.back(), name);
  }
}

std::string CsvReader::key(std::size_t column) const {
  return column < keys_.size() ? keys_[column] : fmt::format("\"column{}\"", column + 1);
}

Record CsvReader::to_json(std::string_view line, Arena& arena) {
  split_csv(line, delimiter_, columns_);
  text_ = "{";
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].empty() && ignore_empty_) continue;
    if (text_.size() > 1) text_ += ',';
    text_.append(key(i)) += ':';
    append_json_string(text_, columns_[i]);
  }
  text_ += '}';
  return arena.copy(text_);
}

CsvWriter::CsvWriter(std::vector<std::string> fields, char delimiter)
    : fields_(std::move(fields)), delimiter_(delimiter) {
  for (const std::string& field : fields_) paths_.emplace_back(field);
}

bool CsvWriter::take_fields(Record record) {
  std::vector<Member> members;
  if (!reader_.members(record, members)) return false;
  std::string scratch;
  for (const Member& member : members) {
    std::string_view key = plain_key(member, scratch);
    if (std::ranges::find(fields_, key) != fields_.end()) continue;
    fields_.emplace_back(key);
    paths_.push_back(FieldPath::of_key(key));
  }
  return true;
}

void CsvWriter::forget_fields() {
  fields_.clear();
  paths_.clear();
}

void CsvWriter::append(std::string_view value, std::string& out) const {
  if (value.find_first_of("\"\r\n") == value.npos && value.find(delimiter_) == value.npos) {
    out.append(value);
    return;
  }
  out += '"';
  for (char c : value) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

void CsvWriter::header(std::string& out) const {
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    if (i > 0) out += delimiter_;
    append(fields_[i], out);
  }
  out += '\n';
}

bool CsvWriter::line(Record record, std::string& out) {
  std::string scratch;
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    if (i > 0) out += delimiter_;
    Field field = reader_.find(record, paths_[i]);
    if (field.kind == FieldKind::broken) return false;
    if (field.kind == FieldKind::text)
      append(text_of(field, scratch), out);
    else if (field.kind != FieldKind::missing && field.kind != FieldKind::null)
      append(field.raw, out);
  }
  out += '\n';
  return true;
}

}  // namespace plim::flow
