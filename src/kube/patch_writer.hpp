// A JSON Patch that any implementation of RFC 6902 can apply to the object as it was sent.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"

namespace plim::kube {

// Operations for one object. The paths come from our code, so nothing in them needs escaping.
class PatchWriter {
 public:
  void add(std::string path, json::value value) { put("add", std::move(path), std::move(value)); }

  void replace(std::string path, json::value value) {
    put("replace", std::move(path), std::move(value));
  }

  // Appends to the list at `path`. Creates the list if it is missing, because "/-" of a missing
  // list is an error. `list` is the present list of the object, or null.
  void append(const std::string& path, const json::value* list, std::vector<json::value> values);

  json::array take() { return std::move(operations_); }

 private:
  void put(std::string_view operation, std::string path, json::value value);

  json::array operations_;
};

}  // namespace plim::kube
