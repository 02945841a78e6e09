#include "kube/patch_writer.hpp"

namespace plim::kube {

void PatchWriter::put(std::string_view operation, std::string path, json::value value) {
  operations_.push_back(
      json::object{{"op", operation}, {"path", std::move(path)}, {"value", std::move(value)}});
}

void PatchWriter::append(const std::string& path, const json::value* list,
                         std::vector<json::value> values) {
  if (values.empty()) return;
  if (list != nullptr && list->is_array()) {
    for (json::value& value : values) add(path + "/-", std::move(value));
    return;
  }
  json::array made;
  for (json::value& value : values) made.push_back(std::move(value));
  add(path, std::move(made));
}

}  // namespace plim::kube
