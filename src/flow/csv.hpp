// Converts lines with columns (RFC 4180, one record per line) to JSON objects and back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "flow/batch.hpp"
#include "flow/fields.hpp"

namespace plim::flow {

// The columns of a line without quotes. A quote that is never closed ends with the line.
void split_csv(std::string_view line, char delimiter, std::vector<std::string>& out);

class CsvReader {
 public:
  CsvReader(std::vector<std::string> names, char delimiter, bool ignore_empty);

  // All values are strings, as in the file. Columns without a name are called column<N>, from 1.
  Record to_json(std::string_view line, Arena& arena);

 private:
  std::string key(std::size_t column) const;

  std::vector<std::string> keys_;  // JSON strings with their quotes
  char delimiter_;
  bool ignore_empty_;
  std::vector<std::string> columns_;
  std::string text_;
};

class CsvWriter {
 public:
  CsvWriter(std::vector<std::string> fields, char delimiter);

  void header(std::string& out) const;
  // Returns false if the record is not a JSON object. Objects and arrays are written as JSON text.
  bool line(Record record, std::string& out);

  bool has_fields() const { return !fields_.empty(); }

  // If the job names no columns: adds the names in this record that are not columns yet.
  bool take_fields(Record record);
  void forget_fields();

 private:
  void append(std::string_view value, std::string& out) const;

  std::vector<std::string> fields_;
  std::vector<FieldPath> paths_;
  char delimiter_;
  FieldReader reader_;
};

}  // namespace plim::flow
