// Reads the fields of a YAML document. Errors name the line and the field.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "base/yaml.hpp"

namespace plim::kube {

// One object in a document, such as "users[0].user". Missing fields and nulls read as empty. A
// value of another type is an error: "config:12:5: users[0].user.token: expected a string, found a
// list". Errors never quote values, which may be secret. The document must outlive the reader.
class FieldReader {
 public:
  static Result<FieldReader> root_of(const YamlDocument& document);  // of an object or of null

  std::vector<std::string> keys() const;
  const json::value* value(std::string_view key) const;  // null when missing or null

  Result<std::string> text(std::string_view key) const;
  Result<bool> flag(std::string_view key) const;
  Result<FieldReader> object(std::string_view key) const;
  Result<std::vector<FieldReader>> list(std::string_view key) const;  // of objects
  Result<std::vector<std::string>> texts(std::string_view key) const;

  Error error(std::string_view key, std::string_view message) const;

 private:
  // The name of a field, for messages and as a JSON pointer.
  struct Path {
    std::string shown;    // users[0].user
    std::string pointer;  // /users/0/user

    Path member(std::string_view key) const;
    Path element(std::size_t index) const;
  };

  FieldReader(const YamlDocument& document, const json::object* value, Path path)
      : document_(&document), value_(value), path_(std::move(path)) {}

  Error error_at(const Path& path, std::string_view message) const;
  Error wrong_type(const Path& path, std::string_view expected, const json::value& found) const;
  Result<FieldReader> object_at(Path path, const json::value& value) const;
  Result<const json::array*> array(std::string_view key) const;  // null when missing

  const YamlDocument* document_;
  const json::object* value_;  // null: missing
  Path path_;
};

}  // namespace plim::kube
