#include "kube/lists_decode.hpp"

namespace plim::kube {
namespace {

class NodeReader : public ListReader {
 public:
  using ListReader::ListReader;

  bool field(Node& out, std::string_view key) {
    if (key == "metadata") return meta(out.meta);
    if (key == "spec") return spec(out);
    if (key == "status") return status(out);
    return true;
  }

 private:
  bool spec(Node& out) {
    return object([&](std::string_view key) {
      if (key == "providerID") return text(out.provider_id);
      if (key == "podCIDR") return text(out.pod_cidr);
      if (key == "unschedulable") return flag(out.unschedulable);
      if (key != "taints") return true;
      return objects(out.taints, [this](Taint& made, std::string_view k) {
        if (k == "key") return text(made.key);
        if (k == "value") return text(made.value);
        if (k == "effect") return text(made.effect);
        return true;
      });
    });
  }

  bool status(Node& out) {
    return object([&](std::string_view key) {
      if (key == "capacity") return pairs(out.capacity);
      if (key == "allocatable") return pairs(out.allocatable);
      if (key == "images") return images(out.images);
      if (key == "nodeInfo") return info(out.info);
      if (key == "declaredFeatures")
        return items([&] { return text(out.declared_features.emplace_back()); });
      if (key == "conditions")
        return objects(out.conditions,
                       [this](Condition& made, std::string_view k) { return condition(made, k); });
      if (key == "addresses")
        return objects(out.addresses, [this](NodeAddress& made, std::string_view k) {
          if (k == "type") return text(made.type);
          if (k == "address") return text(made.address);
          return true;
        });
      return true;
    });
  }

  bool images(std::vector<NodeImage>& out) {
    return objects(out, [this](NodeImage& made, std::string_view key) {
      if (key == "sizeBytes") return integer(made.bytes);
      if (key != "names") return true;
      return items([&] { return text(made.names.emplace_back()); });
    });
  }

  bool info(NodeInfo& out) {
    return object([&](std::string_view key) {
      if (key == "architecture") return text(out.architecture);
      if (key == "operatingSystem") return text(out.operating_system);
      if (key == "kernelVersion") return text(out.kernel);
      if (key == "osImage") return text(out.os_image);
      if (key == "containerRuntimeVersion") return text(out.container_runtime);
      if (key == "kubeletVersion") return text(out.kubelet);
      if (key == "machineID") return text(out.machine_id);
      if (key == "bootID") return text(out.boot_id);
      return true;
    });
  }
};

}  // namespace

Result<Node> decode_node(JsonText text, InternPool& pool) {
  NodeReader reader(&pool);
  Node out;
  auto on_field = [&](std::string_view key) { return reader.field(out, key); };
  PLIM_CHECK(reader.document(object_tokens(), text, on_field));
  return out;
}

Result<ListMeta> decode_nodes(JsonText list, InternPool& pool, const Visit<Node>& visit) {
  NodeReader reader(&pool);
  return reader.list_document(list, [&] {
    auto out = std::make_shared<Node>();
    auto on_field = [&](std::string_view key) { return reader.field(*out, key); };
    return reader.object(on_field) && reader.hand_over(visit, std::move(out));
  });
}

Codec<Node> node_codec(InternPool& pool) {
  auto one = [&pool](JsonText text) { return decode_node(text, pool); };
  auto list = [&pool](JsonText text, const Visit<Node>& visit) {
    return decode_nodes(text, pool, visit);
  };
  return {one, list};
}

}  // namespace plim::kube
