package tool

import "net/netip"

func parsePrefixes(texts ...string) (all []netip.Prefix) {
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

var (
	// notPublic are the IPv4 networks that are not part of the public internet.
	notPublic = parsePrefixes(
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
		"192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
		"203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	)
	// global is the part of IPv6 that is allocated; notGlobal are the blocks of it that
	// lead elsewhere: tunnels, which embed an IPv4 address, and documentation.
	global    = netip.MustParsePrefix("2000::/3")
	notGlobal = parsePrefixes("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
	// metadataHosts serve a cloud machine its own secrets.
	metadataHosts = parsePrefixes("169.254.169.254/32", "169.254.170.2/32", "100.100.100.200/32", "168.63.129.16/32", "fd00:ec2::254/128")
)

func containsAny(addr netip.Addr, networks []netip.Prefix) bool {
	for _, p := range networks {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// isPublic reports whether an address belongs to the public internet. The address must not be
// an IPv4 address mapped into IPv6.
func isPublic(addr netip.Addr) bool {
	if containsAny(addr, metadataHosts) {
		return false
	}
	if addr.Is4() {
		return !containsAny(addr, notPublic)
	}
	return global.Contains(addr) && !containsAny(addr, notGlobal)
}

// isMetadata reports whether an address is a metadata service that a network includes without
// naming exactly that address.
func isMetadata(addr netip.Addr, p netip.Prefix) bool {
	return !p.IsSingleIP() && containsAny(addr, metadataHosts)
}
