"""What the old verifiers say of a certificate of any kind."""

from certificates.old_verifiers import kernel_separation, kernel_verification, soft_verification, verification

from maxmargin import Certificate, KernelCertificate, KernelSeparationCertificate, SoftMarginCertificate

BY_KIND = {
    Certificate: verification.verify,
    SoftMarginCertificate: soft_verification.verify,
    KernelCertificate: kernel_verification.verify,
    KernelSeparationCertificate: kernel_separation.verify,
}


def old_verify(certificate, X, y, *, exact=False, sample_weight=None, kernel=None):
    options = {"exact": exact, "sample_weight": sample_weight}
    if hasattr(certificate, "kernel"):
        options["kernel"] = kernel
    return BY_KIND[type(certificate)](certificate, X, y, **options)
